/* ops.h - type inference and reference evaluation of every operator, one file per family.
 * Declarations come from ops.def: a row without its functions does not link. */
#ifndef RELAY_IR_OPS_OPS_H
#define RELAY_IR_OPS_OPS_H

#include "relay_ir/walk.h"

/* Shared by several families. */

/* Checks shapes and attributes of a convolution, nn.dense or nn.matmul, of any element types, and
 * gives the result's shape. */
bool conv_shape(struct ctx *ctx, struct node *node, struct type *y);
bool dense_shape(struct ctx *ctx, struct node *node, struct type *y);
bool matmul_shape(struct ctx *ctx, struct node *node, struct type *y);

/* As above for a pool and a reduction; the latter stores its axes explicitly, sorted. */
bool pool_shape(struct ctx *ctx, struct node *node, struct type *y);
bool reduce_shape(struct ctx *ctx, struct node *node, struct type *y);

/* Sums of integers over the axes, in i64. */
void reduce_sums(const struct ints *axes, const struct tensor *x, struct tensor *sums);

#define RELAY_OP(symbol, name, attrs, least, most, outputs, pattern, infer, evaluate, ...)         \
    bool infer(struct ctx *ctx, struct node *node);                                                \
    bool evaluate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,        \
                  struct tensor *out);
#include "relay_ir/ops.def"
#undef RELAY_OP

/* A cumulative operator: what it begins with, and what comes of that and the next element. Of f32,
 * the result rounded to f32 is that of f32 arithmetic: double has more than twice its digits. */
double cumulative_begin(enum op op);
double cumulative_step(enum op op, double before, double x);

#endif
