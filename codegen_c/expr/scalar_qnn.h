/* scalar_qnn.h - the element-wise operators on quantised numbers as C text, for scalar.c and
 * epilogue.c. */
#ifndef CODEGEN_C_EXPR_SCALAR_QNN_H
#define CODEGEN_C_EXPR_SCALAR_QNN_H

#include "codegen_c/core/kernel.h"

/* As scalar_text. $A and $B stand for what qnn_tables gives; of qnn.lut for its table and the first
 * entry of the channel's row; of
 * qnn.div for what qnn_div_tables gives. */
const char *qnn_text(struct arena *arena, const struct node *node, const char **needs);

/* Whether a qnn.requantize of any factors can be written for vectors (lanes_requantize_any.c.tmpl):
 * it makes 8 bits of 32, without a zero point before, or of 8 bits that were cast. */
bool requantize_takes_lanes(const struct node *node);

/* The same of one that is rounded as ONNX has it (lanes_requantize_even.c.tmpl). */
bool requantize_takes_float_lanes(const struct node *node);

/* Whether it makes its least number of everything below 0. */
bool requantizes_from_0(const struct node *node);

/* The multipliers and shifts of a qnn.requantize whose scale is a vector along its axis; of
 * rounding "onnx" its factors, and no second table. */
enum { QNN_TABLES = 2 };
void qnn_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES]);

/* The reciprocals of a qnn.div; of small floats their multipliers and shifts. */
void qnn_div_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES]);

#endif
