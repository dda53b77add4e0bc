/* convert_product.h - operands of matrix products, for floats (convert_dense.c) and for quantised
 * numbers (convert_qlinear.c). */
#ifndef FRONTEND_ONNX_CONVERT_PRODUCT_H
#define FRONTEND_ONNX_CONVERT_PRODUCT_H

#include "frontend/onnx/convert_helpers.h"

/* A matrix transposed. */
struct value *turned(struct onnx_node *node, struct value *matrix);

/* a[n] becomes [1, n], b[n] becomes [n, 1]; other operands stay. */
struct value *as_matrix(struct onnx_node *node, struct value *x, bool is_row);

/* The shape of y without the extent-1 dims that as_matrix put in. */
struct ints product_shape(const struct type *y, bool drop_row, bool drop_column);

#endif
