/* convert_product.h - operands of matrix products, for floats (convert_dense.c) and quantised
 * values (convert_qlinear.c). */
#ifndef FRONTEND_ONNX_CONVERT_PRODUCT_H
#define FRONTEND_ONNX_CONVERT_PRODUCT_H

#include "frontend/onnx/convert_helpers.h"

/* A matrix transposed. */
struct value *turned(struct onnx_node *node, struct value *matrix);

/* Reshapes a vector to [1, n] if is_row, else to [n, 1]; other operands are unchanged. */
struct value *as_matrix(struct onnx_node *node, struct value *x, bool is_row);

/* Shape of y without the dims that as_matrix added. */
struct ints product_shape(const struct type *y, bool drop_row, bool drop_column);

#endif
