/* convert_qnn.h - helpers for converters of quantised operators. NULL operands mean that an earlier
 * step failed. */
#ifndef FRONTEND_ONNX_CONVERT_QNN_H
#define FRONTEND_ONNX_CONVERT_QNN_H

#include "frontend/onnx/convert_helpers.h"

/* Input i as a zero point; 0 of this type if absent. */
struct value *zero_point(struct onnx_node *node, int i, enum dtype dtype);

/* Input i as an f32 scale. */
struct value *scale_input(struct onnx_node *node, int i);

/* qnn.quantize and qnn.dequantize with scale and zero point from these inputs; dtype: of an absent
 * zero point. */
struct value *quantized(struct onnx_node *node, struct value *x, int scale, int zero,
                        enum dtype dtype, const char *suffix);
struct value *dequantized(struct onnx_node *node, struct value *x, int scale, int zero,
                          const char *suffix);

/* The constant factor * input a * input b; a is a scalar, b may be a vector. */
struct value *product_of_scales(struct onnx_node *node, int a, int b, double factor);

/* Requantises i32 x from in_scale (scalar, or vector along the axis) to scale and zero point in
 * inputs `scale` and `zero`. */
struct value *requantized(struct onnx_node *node, struct value *x, struct value *in_scale,
                          int64_t axis, int scale, int zero, const char *suffix);

/* Makes i32 x, in the product of the scales in inputs a and b, quantised values of the scale and zero point in inputs
 * `scale` and `zero`: in fixed point; in f32 where one of them is known at run time only. */
struct value *rescaled(struct onnx_node *node, struct value *x, int a, int b, int64_t axis,
                       int scale, int zero, const char *suffix);

/* DynamicQuantizeLinear: quantised values (u8), scale and zero point of x. False after an error. */
bool quantize_at_run_time(struct onnx_node *node, struct value *x, const char *suffix,
                          struct value *out[3]);

/* --- convert_qnn_blocks.c ---------------------------------------------------------------------
 * True if QuantizeLinear or DequantizeLinear has block scales; and their conversions. x is input 0
 * in f32, dtype the result's. */
bool has_blocks(struct onnx_node *node);
bool quantize_blocks(struct onnx_node *node, struct value *x, enum dtype dtype);
bool dequantize_blocks(struct onnx_node *node, enum dtype dtype);

#endif
