/* convert_product.h - operands of products, for floats (convert_dense.c, convert_fused.c) and
 * quantised values (convert_qlinear.c). */
#ifndef FRONTEND_ONNX_CONVERT_PRODUCT_H
#define FRONTEND_ONNX_CONVERT_PRODUCT_H

#include "frontend/onnx/convert_helpers.h"

/* A matrix transposed. */
struct value *turned(struct onnx_node *node, struct value *matrix);

/* Reshapes a vector to [1, n] if is_row, else to [n, 1]; other operands are unchanged. */
struct value *as_matrix(struct onnx_node *node, struct value *x, bool is_row);

/* x with its channels second instead of last, and the other way round. */
struct value *channels_first(struct onnx_node *node, struct value *x);
struct value *channels_last(struct onnx_node *node, struct value *x, const char *suffix);

/* Shape of y without the dims that as_matrix added. */
struct ints product_shape(const struct type *y, bool drop_row, bool drop_column);

#endif
