/* dense_gemv.h - dense layers with one column, for matmul_column. */
#ifndef CODEGEN_C_KERNELS_DENSE_DENSE_GEMV_H
#define CODEGEN_C_KERNELS_DENSE_DENSE_GEMV_H

#include "codegen_c/core/kernel.h"

bool accepts_dense_column(const struct region *region, const char **why);

#endif
