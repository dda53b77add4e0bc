/* emit_interface.h - NAME.h: what each input and output is, and conversions of its numbers. */
#ifndef CODEGEN_C_EMIT_EMIT_INTERFACE_H
#define CODEGEN_C_EMIT_EMIT_INTERFACE_H

#include "base/str.h"

struct codegen;

/* Macros for each tensor: NAME_X_TYPE, _RANK, _DIMS, _STRIDES, _LEN, _BYTES, _SCALE, _ZERO_POINT;
 * then NAME_quantize_x and NAME_dequantize_y. */
void add_interface(struct codegen *codegen, struct str *out);

#endif
