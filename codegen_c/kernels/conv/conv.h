/* conv.h - what gemv and dense_rows take of convolutions, and forms of transposed ones, for kernels elsewhere. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_H
#define CODEGEN_C_KERNELS_CONV_CONV_H

#include "codegen_c/core/kernel.h"

bool accepts_conv_transpose(const struct region *region, const char **why);

#endif
