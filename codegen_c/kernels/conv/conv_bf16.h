/* conv_bf16.h - convolutions of 8-bit floats by bf16 products: see conv_bf16.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_BF16_H
#define CODEGEN_C_KERNELS_CONV_CONV_BF16_H

#include "codegen_c/core/window.h"

/* Whether the weights of all channels fit on the stack when dequantised. */
bool bf16_takes_all_channels(const struct window *window);

#endif
