/* conv_band.h - the geometry of row bands: rows of x copied with their padding, so that no window
 * lies at an edge. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_BAND_H
#define CODEGEN_C_KERNELS_CONV_CONV_BAND_H

#include "codegen_c/core/window.h"

/* Whether it is an f32 convolution with constant weights and x channels first, with so few channels
 * that a table holds the offsets of everything under the kernel. As the takes_ of anchor.h. */
bool takes_band(const struct region *region, const char **why);

/* Columns of a padded row of x that windows cover, and how many of them are x. */
int64_t band_width(const struct window *window);
int64_t band_width_inside(const struct window *window);

/* Rows of x, padding included, that n rows of y need. */
int64_t band_rows(const struct window *window, int64_t n);

/* Bytes of a band of x, unless one row of y needs more: a fraction of the L1. */
enum { BAND_BYTES = 16 << 10 };

/* The most rows of y whose rows of x, row_bytes each, fit in `most` bytes; at least one. */
int64_t band_most_rows(const struct window *window, int64_t row_bytes, int64_t most);

/* Sets `band` and `band_h`, rows of y and the rows of x that they need; `band_top`, the first of
 * the latter; `width_copied` and `band_width_inside`. */
void bind_band_rows(struct bind *bind, const struct window *window, int64_t rows);

/* The extent in x that kernel positions 0 .. last cover: "(OUT_W - 1) * STRIDE_W + K_W". */
const char *band_covered(struct bind *bind, const struct window *window, int dim, const char *last);

#endif
