/* conv_band.h - convolutions that copy some rows of x at a time, with their padding, so that no
 * position lies at an edge: how such a band lies under rows of y. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_BAND_H
#define CODEGEN_C_KERNELS_CONV_CONV_BAND_H

#include "codegen_c/core/window.h"

/* Whether it is a convolution in f32 with known weights whose x is in planes, few enough of them
 * that a table says where what lies under the kernel is. As the takes_ of anchor.h. */
bool takes_band(const struct region *region, const char **why);

/* Of a row of x with its padding, what lies under the kernel, and of that what is x. */
int64_t band_width(const struct window *window);
int64_t band_width_inside(const struct window *window);

/* Rows of x that n rows of y need. */
int64_t band_rows(const struct window *window, int64_t n);

/* Of x in planes in a band, or what one row of y needs: a part of the first cache. */
enum { BAND_BYTES = 16 << 10 };

/* So many rows of y that what they need of x, rows of so many bytes, has no more than `most` bytes;
 * at least one. */
int64_t band_most_rows(const struct window *window, int64_t row_bytes, int64_t most);

/* Sets band and band_h, so many rows of y and what they need; band_top, the first of these; and
 * width_copied, band_width_inside. */
void bind_band_rows(struct bind *bind, const struct window *window, int64_t rows);

/* "(OUT_W - 1) * STRIDE_W + K_W": the extent that positions 0 .. last of the kernel cover. */
const char *band_covered(struct bind *bind, const struct window *window, int dim, const char *last);

#endif
