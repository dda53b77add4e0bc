/* qnn_terms.h - what the C text of operators on quantised values is made of: zero points, factors, bounds. For
 * scalar_qnn.c and requantize.c. */
#ifndef CODEGEN_C_EXPR_QNN_TERMS_H
#define CODEGEN_C_EXPR_QNN_TERMS_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/qnn.h"

/* Whether the value is a constant with equal elements. */
bool qnn_is_known(const struct value *value, int64_t *number);

/* Element i of a constant. */
double qnn_real(const struct value *constant, int64_t i);

/* Bounds of a type, packed ones too. */
int64_t qnn_least(enum dtype dtype);
int64_t qnn_most(enum dtype dtype);

/* "x + 3", "x - 3", "x". */
const char *qnn_plus(struct arena *arena, const char *x, int64_t number);

/* (x - zero); `role` names the zero point where it is a parameter. */
const char *qnn_centred(struct arena *arena, const char *x, const struct node *node,
                        const char *role, int64_t zero);

/* helper(x, multiplier, shift); `of`: "x", "y". */
const char *qnn_scaled(struct arena *arena, const struct node *node, const char *of,
                       const char *helper, const char *x, struct fixed_point factor);

/* Whether requantize_down computes this in 32 bits, for any x. */
bool qnn_goes_down(struct fixed_point factor);

/* saturate(x + zero), in the result's type. */
const char *qnn_saturated(struct arena *arena, const struct node *node, const char *x,
                          int64_t zero);

/* clamp(x + zero), in the result's type; it fits 32 bits. */
const char *qnn_clamped(struct arena *arena, const struct node *node, const char *x, int64_t zero);

#endif
