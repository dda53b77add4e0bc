/* conv_decoded.h - convolutions of what is stored small on PCs: see conv_decoded.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_DECODED_H
#define CODEGEN_C_KERNELS_CONV_CONV_DECODED_H

#include "codegen_c/core/window.h"

/* How many output positions are computed at a time while their inputs are read again: 0 where all
 * of them are decoded before a result is written. */
int64_t decoded_group(const struct window *window);

/* The positions after which results are written, or a multiple: 1, or a row of them. */
int64_t decoded_step(const struct window *window);

#endif
