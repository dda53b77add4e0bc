/* matrix.h - regions that multiply rows by one known matrix. */
#ifndef CODEGEN_C_CORE_MATRIX_H
#define CODEGEN_C_CORE_MATRIX_H

#include "codegen_c/core/kernel.h"

/* y[rows, out_c] = x[rows, in_c] * weight, where weight (the anchor's input 1) is [out_c, in_c], or
 * [in_c, out_c] if transposed. */
struct dense {
    int64_t rows, in_c, out_c;
    bool transposed;
};

/* The product of a nn.dense; of a convolution of one position; of a nn.matmul of rows by one known
 * matrix. */
struct dense dense_of(const struct region *region);
struct dense dense_of_conv(const struct region *region);
struct dense dense_of_matmul(const struct region *region);

#endif
