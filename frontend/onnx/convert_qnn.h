/* convert_qnn.h - what the converters of quantised operators share. NULL means, as everywhere, that
 * an earlier step failed. */
#ifndef FRONTEND_ONNX_CONVERT_QNN_H
#define FRONTEND_ONNX_CONVERT_QNN_H

#include "frontend/onnx/convert_helpers.h"

/* Input i, a zero point, or 0 of this type where it is absent. */
struct value *zero_point(struct onnx_node *node, int i, enum dtype dtype);

/* qnn.quantize and qnn.dequantize with the operands of inputs `scale` and `zero`; dtype: of a zero
 * point that is absent. */
struct value *quantized(struct onnx_node *node, struct value *x, int scale, int zero,
                        enum dtype dtype, const char *suffix);
struct value *dequantized(struct onnx_node *node, struct value *x, int scale, int zero,
                          const char *suffix);

/* factor * input a * input b as a constant; a is one number, b may be a vector. */
struct value *product_of_scales(struct onnx_node *node, int a, int b, double factor);

/* The i32 numbers x, whose scale is in_scale (one number, or a vector along the axis), as numbers
 * of the scale and zero point in inputs `scale` and `zero`. */
struct value *requantized(struct onnx_node *node, struct value *x, struct value *in_scale,
                          int64_t axis, int scale, int zero, const char *suffix);

#endif
