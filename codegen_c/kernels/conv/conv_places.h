/* conv_places.h - the loops of convolutions over pixels, taps and channels: C index expressions for
 * x, the weights and y. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_PLACES_H
#define CODEGEN_C_KERNELS_CONV_CONV_PLACES_H

#include "codegen_c/core/window.h"
#include "codegen_c/microkernel/epilogue_store.h"

/* Sets these keys:
 *
 * many, batch, groups, in_c, out_c   several images or groups g; channels of one group
 * deep, padded, in_extents, out_extents, kernel_extents, steps, taps, out_len
 *                   enum constants; `steps`: strides and dilations that are not 1, padding that is
 *                   not 0
 * origins           declares front, top and left: input coordinates of the kernel at pixel p of y
 * taps_of           declares kd, kh, kw of tap `tap`
 * places            declares id, ih and iw, the input coordinates of tap (kd, kh, kw)
 * tap               the number of the tap
 * is_outside        whether the tap lies in the padding; `outside`: as "... ? zeros : ",
 *                   `outside_0`: as "... ? 0 : "
 * row, kernel_rows, row_places, row_pixel
 *                   of kernel rows (kd, kh): the number of one, how many, id and ih of one,
 *                   its first pixel
 * rows_outside, row_is_outside, is_edge
 *                   whether some rows lie in the padding; whether this one does; whether it reaches
 *                   beyond x at the sides
 * origin_pixel, offset   x channels first: the kernel's first pixel at (front, top, left), and the
 *                   distance from it to channel ic at tap (kd, kh, kw)
 * x, image          the input; where the pixels of g begin in it
 * pixel, pixel_stride      the number of the pixel at (id, ih, iw); the pixel stride
 * element           the index of its channel ic; `element_wide`: of channel from + i
 * in_shape          the shape of x, for a comment
 * oc, at            output channel i of the panel or tile at `block`, and the index in y of its sum
 *                   at pixel first + j
 * out_planar        whether y is channels first */
void bind_conv_places(struct bind *bind, const struct window *window);

/* Call before bind_conv_places, in kernels that take all indices of x from it. If x is some rows of
 * each of its planes (region->plane_rows), they are read in place and region->planes_apart is set.
 * Sets `plane_h`: "PLANE_H" then, else "IN_H". One image, no groups, no depth. */
void bind_planes_apart(struct bind *bind, const struct window *window);

/* Sets `planes_at`: the index in y, channels first, of a tile's first sum. */
void bind_conv_planes_at(struct bind *bind, const struct window *window);

/* The position in y of the tile at pixel `first` and channel `block`. */
struct tile_place conv_tile_place(const struct bind *bind, const struct window *window);

/* Binds the epilogue at `at` and `oc`; false after errors. */
bool bind_conv_position(struct bind *bind, const struct window *window, const char *sum);

/* The same for y channels last, row by row (bind_row_epilogue): the `n` channels from `block` on,
 * at most `most`. Sets `start` and `uses_oc`. */
bool bind_conv_rows(struct bind *bind, const struct window *window, const char *sum,
                    const char *most);

#endif
