/* convert_qnn.h - what the converters of quantised operators share. NULL means, as everywhere, that
 * an earlier step failed. */
#ifndef FRONTEND_ONNX_CONVERT_QNN_H
#define FRONTEND_ONNX_CONVERT_QNN_H

#include "frontend/onnx/convert_helpers.h"

/* Input i, a zero point, or 0 of this type where it is absent. */
struct value *zero_point(struct onnx_node *node, int i, enum dtype dtype);

/* Input i, a scale, as f32. */
struct value *scale_input(struct onnx_node *node, int i);

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

/* --- convert_qnn_blocks.c ---------------------------------------------------------------------
 * Whether QuantizeLinear or DequantizeLinear has a scale for each block; their conversions then. x
 * is input 0 in f32, dtype that of the result. */
bool has_blocks(struct onnx_node *node);
bool quantize_blocks(struct onnx_node *node, struct value *x, enum dtype dtype);
bool dequantize_blocks(struct onnx_node *node, enum dtype dtype);

#endif
