/* dense_tiles.h - products of rows and a constant matrix that the kernel conv computes. */
#ifndef CODEGEN_C_KERNELS_DENSE_DENSE_TILES_H
#define CODEGEN_C_KERNELS_DENSE_DENSE_TILES_H

#include "codegen_c/core/kernel.h"

bool accepts_dense_conv(const struct region *region, const char **why);
bool accepts_matmul_dense_conv(const struct region *region, const char **why);

#endif
