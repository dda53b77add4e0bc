/* scalar_exact.h - element-wise operators of integer-accumulated FP8 as C text, for scalar_qnn.c:
 * qnn.requantize, add, subtract, mul and div with minifloat results. The arithmetic is that of
 * relay_ir/ops/exact.h. */
#ifndef CODEGEN_C_EXPR_SCALAR_EXACT_H
#define CODEGEN_C_EXPR_SCALAR_EXACT_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/exact.h"

/* Whether the node is one of these. */
bool is_exact(const struct node *node);

/* As qnn_text. */
const char *exact_text(struct arena *arena, const struct node *node, const char **needs);

/* The arguments that describe a result's format to helpers: mantissa bits, the largest finite
 * value's bits, the sign bit. */
const char *exact_format_text(struct arena *arena, const struct minifloat *format);

/* The multipliers and shifts of a qnn.div, for every value of the divisor. */
void exact_div_tables(struct bind *bind, const struct node *node, struct value *tables[2]);

/* The factor of one channel of a qnn.requantize. */
struct exact_factor exact_channel_factor(const struct node *node, int64_t channel);

#endif
