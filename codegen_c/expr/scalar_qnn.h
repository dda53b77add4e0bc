/* scalar_qnn.h - element-wise operators on quantised values as C text, for scalar.c and
 * epilogue.c. */
#ifndef CODEGEN_C_EXPR_SCALAR_QNN_H
#define CODEGEN_C_EXPR_SCALAR_QNN_H

#include "codegen_c/core/kernel.h"

/* As scalar_text. $A and $B stand for: the tables of qnn_tables; of qnn.lut its table and the first
 * entry of the channel's row; of qnn.div the tables of qnn_div_tables. */
const char *qnn_text(struct arena *arena, const struct node *node, const char **needs);

/* That of a qnn.requantize (requantize.c). */
const char *qnn_requantize_text(struct arena *arena, const struct node *node, const char **needs);

/* Whether a qnn.requantize can be written for vectors, whatever its factors
 * (lanes_requantize_any.c.tmpl): from 32 bits, without a zero point, or from 8 bits cast to 32; to
 * 8 bits. */
bool requantize_takes_lanes(const struct node *node);

/* The same for ONNX rounding (lanes_requantize_even.c.tmpl). */
bool requantize_takes_float_lanes(const struct node *node);

/* Whether the zero point of the result is its type's least value, so that the clamp is a ReLU. */
bool requantizes_from_0(const struct node *node);

/* The tables of a qnn.requantize with a scale for each channel: multipliers and shifts, or, with
 * rounding "onnx", f32 factors and no second table. */
enum { QNN_TABLES = 2 };
void qnn_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES]);

/* The tables of a qnn.div: reciprocals; of minifloats multipliers and shifts. */
void qnn_div_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES]);

#endif
