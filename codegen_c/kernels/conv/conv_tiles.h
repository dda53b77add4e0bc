/* conv_tiles.h - what convolutions by register tiles share: their weights in panels, and the loops
 * over these. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_TILES_H
#define CODEGEN_C_KERNELS_CONV_CONV_TILES_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/conv_chunk.h"
#include "codegen_c/microkernel/tile.h"

/* The weights of a convolution, [groups, out_c / width][kernel, in_c][width]: of panels of so many
 * channels. */
struct panels conv_panels(const struct window *window, int64_t width);

/* The same as wide as tile_panel says; the constant of a product of rows as it lies there. */
struct panels conv_panels_of_anchor(const struct bind *bind, const struct window *window,
                                    int64_t width);

/* A kernel of extent 1 that visits every input position once. */
bool conv_is_pointwise(const struct window *window);

/* Sets what bind_weight_tiles does (operands.h), and weight_shape. */
void bind_conv_weights(struct bind *bind, const struct panels *panels);

/* Sets weight_shape alone, of panels without codes, for a comment; returns it for the weights'
 * file. */
const char *bind_conv_weight_shape(struct bind *bind, const struct panels *panels);

/* Sets `width`: the channels of the panel in which channel `from` lies. */
void bind_conv_width(struct bind *bind, const struct panels *panels, const char *from);

/* What a group has of rows of row_len numbers, as an addend of an index:
 * "g % GROUPS * 40 * TAPS * IN_C + "; "" without groups. */
const char *conv_group_start(struct bind *bind, const struct window *window,
                             const struct panels *panels, const char *row_len);

/* Sets weight_at, where the weights of the tile at `block` begin. */
void bind_conv_weight_at(struct bind *bind, const struct window *window,
                         const struct panels *panels);

/* Of the tile at `block`: ragged, n_channels, spans and span, how its sums are written where a
 * group has no multiple of its channels. */
void bind_conv_channels(struct bind *bind, const struct panels *panels, const struct tile *tile);

/* Sets what all ways of reading x share, once weights are bound: places (conv_places.h), channels
 * and, unless the tile stores results itself, what is done to sums. False after errors. */
bool bind_conv_tiles(struct bind *bind, const struct window *window, const struct panels *panels,
                     const struct tile *tile);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_conv(const struct region *region, const char **why);
bool accepts_dense_small(const struct region *region, const char **why);
bool accepts_matmul_dense_small(const struct region *region, const char **why);

#endif
