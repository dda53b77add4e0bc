/* conv_places.h - the loops of convolutions over positions, taps and channels: what of x, the
 * weights and y stands where, as C. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_PLACES_H
#define CODEGEN_C_KERNELS_CONV_CONV_PLACES_H

#include "codegen_c/core/window.h"
#include "codegen_c/microkernel/tile_end.h"

/* Sets these keys (a blank line between them keeps clang-format from filling):
 *
 *   many, batch, groups, in_c, out_c: several images or groups g; channels of one group
 *
 *   deep, padded, in_extents, out_extents, kernel_extents, steps, taps, out_len: for the enum; the
 *   steps that are not 1 and the padding that is not 0
 *
 *   origins: declares front, top and left, where the kernel begins at position p of y
 *
 *   taps_of: declares kd, kh, kw of tap `tap`
 *
 *   places: declares id, ih and iw, where tap (kd, kh, kw) lies
 *
 *   tap: the number of the tap
 *
 *   is_outside: whether it lies in the padding; `outside`: the same, as "… ? zeros : "; `outside_0`
 *   as "… ? 0 : "
 *
 *   row, kernel_rows, row_places, row_pixel: of the kernel's rows (kd, kh) the number of one, how
 *   many, id and ih of one, its first pixel; rows_outside: whether some lie in the padding,
 *   row_is_outside: whether this one does; is_edge: whether it reaches beyond x at the sides
 *
 *   origin_pixel, offset: of x that is channels first, the first pixel of the kernel at (front,
 * top, left), and how far from that channel ic at tap (kd, kh, kw) is
 *
 *   x, image: the input; where the pixels of g begin in it
 *
 *   pixel, pitch: the number of the pixel at (id, ih, iw), the elements from one to the next
 *
 *   element: the index of channel ic of it; `element_wide` of channel from + i
 *
 *   in_shape: for a comment
 *
 *   oc, at: output channel i of the panel or tile that begins at `block`, and the index in y of its
 *   sum at position first + j
 *
 *   out_planar: whether y is channels first */
void bind_conv_places(struct bind *bind, const struct window *window);

/* Before bind_conv_places, of kernels that have all indices of x from it: where x is some rows of
 * each of its planes (region->plane_rows), they are read where they lie, and region->planes_apart
 * is set. `plane_h` is "PLANE_H" then, else "IN_H". Of one image without groups and depth. */
void bind_planes_apart(struct bind *bind, const struct window *window);

/* "planes_at": where in y, whose channels are planes, the first sum of a tile lies. */
void bind_conv_planes_at(struct bind *bind, const struct window *window);

/* Where the tile begins whose first position is `first`, and its first channel `block`. */
struct tile_place conv_tile_place(const struct bind *bind, const struct window *window);

/* The epilogue at `at` and `oc`; false after errors. */
bool bind_conv_position(struct bind *bind, const struct window *window, const char *sum);

/* The same of y channels last, row by row (bind_row_epilogue): of the `n` channels, no more than
 * `most`, from `block` on. Sets start, and uses_oc. */
bool bind_conv_rows(struct bind *bind, const struct window *window, const char *sum,
                    const char *most);

#endif
