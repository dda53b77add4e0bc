/* conv_decoded.h - dequantising convolutions on PCs: see conv_decoded.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_DECODED_H
#define CODEGEN_C_KERNELS_CONV_CONV_DECODED_H

#include "codegen_c/core/window.h"

/* Pixels of y that are computed while their inputs may be read again; 0 if x is dequantised
 * completely before a result is written. */
int64_t decoded_group(const struct window *window);

/* Pixels after which results are written: 1, or a row of them; or a multiple. */
int64_t decoded_step(const struct window *window);

#endif
