/* conv_tiles.h - shared by convolutions by register tiles: packed weights, and the loops over
 * them. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_TILES_H
#define CODEGEN_C_KERNELS_CONV_CONV_TILES_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/nc_block.h"
#include "codegen_c/microkernel/tile.h"

/* The weights of a convolution in panels of `width` channels, [groups, out_c / width][kernel,
 * in_c][width]. */
struct panels conv_panels(const struct window *window, int64_t width);

/* The same for the region's anchor, which may be a matrix product; the panel width is
 * tile_panel's. */
struct panels conv_panels_of_anchor(const struct bind *bind, const struct window *window,
                                    int64_t width);

/* Whether the kernel is 1x1 and reads every input pixel once. */
bool conv_is_pointwise(const struct window *window);

/* Whether every tile would wait for all weights, as the L3 is slow (docs/lab/kernels.md). */
bool conv_weights_are_far(const struct region *region, const struct window *window);

/* Sets the keys of bind_weight_tiles (operands.h), and `weight_shape`. */
void bind_conv_weights(struct bind *bind, const struct panels *panels);

/* Sets `weight_shape` alone, for a comment on unquantised panels; returns it for the weights
 * file. */
const char *bind_conv_weight_shape(struct bind *bind, const struct panels *panels);

/* Sets `width`: the channels of the panel that holds channel `from`. */
void bind_conv_width(struct bind *bind, const struct panels *panels, const char *from);

/* The start of group g in an array with rows of row_len elements, as an addend of an index: "g %
 * GROUPS * 40 * TAPS * IN_C + "; "" without groups. */
const char *conv_group_start(struct bind *bind, const struct window *window,
                             const struct panels *panels, const char *row_len);

/* Sets `weight_at`: where the weights of the tile at `block` begin. */
void bind_conv_weight_at(struct bind *bind, const struct window *window,
                         const struct panels *panels);

/* Sets how the tile at `block` writes sums where a group's channels are no multiple of the tile's:
 * `ragged`, `n_channels`, `spans` and `span`. */
void bind_conv_channels(struct bind *bind, const struct panels *panels, const struct tile *tile);

/* Sets the keys that are common to all ways of reading x, after the weights are bound: indices
 * (conv_places.h), channels and, unless the tile has an epilogue store, the epilogue. False after
 * errors. */
bool bind_conv_tiles(struct bind *bind, const struct window *window, const struct panels *panels,
                     const struct tile *tile);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_conv(const struct region *region, const char **why);
bool accepts_dense_small(const struct region *region, const char **why);
bool accepts_matmul_dense_small(const struct region *region, const char **why);

#endif
