/* conv_tiles.h - what convolutions by register tiles share: their weights in panels. */
#ifndef CODEGEN_C_KERNELS_CONV_TILES_H
#define CODEGEN_C_KERNELS_CONV_TILES_H

#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/tile.h"
#include "codegen_c/kernels/window.h"

/* The weights of a convolution, [groups, out_c / width][kernel, in_c][width]: of panels of so many
 * channels. */
struct panels conv_panels(const struct window *window, int64_t width);

/* The same as wide as tile_panel says; the constant of a product of rows as it lies there. */
struct panels conv_panels_of_anchor(const struct bind *bind, const struct window *window);

/* Sets what bind_weight_tiles does (operands.h), and weight_shape. */
void bind_conv_weights(struct bind *bind, const struct panels *panels);

/* Sets `width`: the channels of the panel in which channel `from` lies. */
void bind_conv_width(struct bind *bind, const struct panels *panels, const char *from);

#endif
