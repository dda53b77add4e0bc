/* pixel_stride.h - pixel strides of x and y. The plan stores a value that is concatenated along the
 * channels as a sub-buffer of the result; its pixel stride is then that of the larger value.
 * Kernels that can read or write so say it in their records (kernel.reads_strided,
 * kernel.writes_strided). */
#ifndef CODEGEN_C_MICROKERNEL_PIXEL_STRIDE_H
#define CODEGEN_C_MICROKERNEL_PIXEL_STRIDE_H

#include "codegen_c/core/kernel.h"

/* Whether any parameter, or the result, has a pixel stride of its own. */
bool pixels_are_apart(const struct region *region);

/* Sets `pixel_strides`: enum constants for the pixel strides of x and y that are not their channels; may
 * be empty. */
void bind_pixel_strides(struct bind *bind);

/* The same; that of x where it is said so, be it its channels. */
void bind_pixel_strides_of(struct bind *bind, bool of_x);

/* The pixel stride of input 0 (of y) as C: "IN_PIXEL_STRIDE" ("OUT_PIXEL_STRIDE"), or `channels` if pixels are
 * dense. */
const char *pixel_stride_of_x(const struct region *region, const char *channels);
const char *pixel_stride_of_y(const struct region *region, const char *channels);

/* Sets `at` to the index of an element of y, and fills `position` for an epilogue, coordinates by
 * division. `pixel` and `channel` are C without operators outside of parentheses; `channels` is the
 * channels of a pixel. */
void bind_at(struct bind *bind, const char *pixel, const char *channels, const char *channel,
             struct position *position);

/* The same for an index that is known: of planes. */
void bind_at_index(struct bind *bind, const char *index, struct position *position);

/* For rows of channels (bind_row_epilogue) that begin at channel `first` of the pixel of
 * `position`, which bind_at has filled: sets the key `start` to the index in y of a row's first
 * element, and *start to its position. */
void bind_start(struct bind *bind, const char *channels, const char *first,
                const struct position *position, struct position *start);

/* Fields of records (codegen_c/core/kernel.h). */
bool reads_conv_pixels(const struct region *region, int input);
bool reads_pixels(const struct region *region, int input);
bool reads_side_by_side(const struct region *region, int input);
bool writes_conv_pixels(const struct region *region);
bool writes_pixels(const struct region *region);
bool writes_side_by_side(const struct region *region);

#endif
