/* e8m0.h - FLOAT8E8M0, powers of two by their exponent: casts, written as integer operations on the bits of f32. */
#ifndef FRONTEND_ONNX_E8M0_H
#define FRONTEND_ONNX_E8M0_H

#include "frontend/onnx/convert.h"

/* The numbers of f8e8m0 quantised values as f32, exactly; a constant if x is one. NULL after an error. */
struct value *e8m0_to_f32(struct onnx_node *node, struct value *x, const char *suffix);

/* Cast of f32 to f8e8m0, with the node's attributes saturate and round_mode. NULL after an error. */
struct value *e8m0_from_f32(struct onnx_node *node, struct value *x, const char *suffix);

#endif
