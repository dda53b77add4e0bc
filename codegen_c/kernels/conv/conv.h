/* conv.h - convolutions as gemv or dense_rows, and transposed convolutions: for kernels in other
 * files. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_H
#define CODEGEN_C_KERNELS_CONV_CONV_H

#include "codegen_c/core/kernel.h"

bool accepts_conv_transpose(const struct region *region, const char **why);

#endif
