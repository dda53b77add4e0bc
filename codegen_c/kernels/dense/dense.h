/* dense.h - matrix products: with constant weights, for all operators that are one, and of two
 * computed operands. */
#ifndef CODEGEN_C_KERNELS_DENSE_DENSE_H
#define CODEGEN_C_KERNELS_DENSE_DENSE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/matrix.h"

/* Whether a convolution has one output pixel and its weights are rows in the order of x: for one
 * image, for several (conv_as_dense.c). */
bool accepts_conv_dense(const struct region *region, const char **why);
bool accepts_conv_dense_rows(const struct region *region, const char **why);
bool bind_conv_dense(struct bind *bind);

/* Binds all keys of gemv.c.tmpl: one row, computed in f32. */
bool takes_gemv(const struct region *region, const char **why);
bool bind_gemv_shape(struct bind *bind, const struct dense *dense);
bool accepts_conv_gemv(const struct region *region, const char **why);
bool bind_conv_gemv(struct bind *bind);

/* Binds all keys of dense.c.tmpl (one row) or dense_rows.c.tmpl (several). */
bool bind_dense_shape(struct bind *bind, const struct dense *dense);

/* y[batch, m, n] = a[.., m, k] * b[.., k, n]. Each operand may be stored transposed; its batch dims
 * broadcast. */
struct product {
    int64_t batch, m, k, n;
    bool transpose_a, transpose_b;
};

struct product product_of(const struct region *region);

/* The index of an input's matrix, as C, from `batch`, that of the output's. */
const char *product_matrix(struct bind *bind, const struct product *product, int input);

/* Sets the keys a, batched, batch, a_matrix, b_matrix, inner and columns of templates with two
 * computed operands. */
void bind_product_matrices(struct bind *bind, const struct product *product);

/* The same, and row, a_at, b_at, a_shape, b_shape and rows. */
void bind_product_shape(struct bind *bind, const struct product *product);

/* Binds all keys of matmul_int.c.tmpl but the types of sums and the epilogue. */
void bind_product(struct bind *bind, const struct product *product);

/* A field of records (codegen_c/core/kernel.h). */
bool accepts_matmul_float(const struct region *region, const char **why);

#endif
