/* conv_bf16.h - convolutions of floats of a byte by products of bf16: see conv_bf16.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_BF16_H
#define CODEGEN_C_KERNELS_CONV_CONV_BF16_H

#include "codegen_c/core/window.h"

/* Whether the weights are so few that those of all channels are decoded at a time. */
bool bf16_takes_all_channels(const struct window *window);

#endif
