/* dense_accepts.h - what kernels of products with constant weights ask of a region: fields of records
 * (codegen_c/core/kernel.h), of convolutions' kernels, too. */
#ifndef CODEGEN_C_KERNELS_DENSE_DENSE_ACCEPTS_H
#define CODEGEN_C_KERNELS_DENSE_DENSE_ACCEPTS_H

#include "codegen_c/core/kernel.h"

/* Whether a convolution is computed in f32, from constant weights of any format. */
bool accepts_conv_small(const struct region *region, const char **why);

/* Whether a dense layer has one row, or several. */
bool accepts_dense(const struct region *region, const char **why);
bool accepts_dense_rows(const struct region *region, const char **why);

/* The same of a product of matrices, every row of whose first operand meets the same constant matrix. */
bool accepts_matmul_dense(const struct region *region, const char **why);
bool accepts_matmul_dense_rows(const struct region *region, const char **why);

#endif
