/* ops.h - type inference and reference evaluation of every operator, a file per family; the
 * declarations come from ops.def, so that a row without its functions does not link. */
#ifndef RELAY_IR_OPS_OPS_H
#define RELAY_IR_OPS_OPS_H

#include "relay_ir/walk.h"

/* Shared by several families. */

/* The shape of the result of a convolution, nn.dense and nn.matmul of these inputs, whatever their
 * element types; checks shapes and attributes. */
bool conv_shape(struct ctx *ctx, struct node *node, struct type *y);
bool dense_shape(struct ctx *ctx, struct node *node, struct type *y);
bool matmul_shape(struct ctx *ctx, struct node *node, struct type *y);

/* Likewise of a pool and of a reduction; the latter writes its axes out, sorted. */
bool pool_shape(struct ctx *ctx, struct node *node, struct type *y);
bool reduce_shape(struct ctx *ctx, struct node *node, struct type *y);

/* The sums of integers over these axes, in i64. */
void reduce_sums(const struct ints *axes, const struct tensor *x, struct tensor *sums);

#define RELAY_OP(symbol, name, attrs, least, most, outputs, pattern, infer, evaluate, ...)         \
    bool infer(struct ctx *ctx, struct node *node);                                                \
    bool evaluate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,        \
                  struct tensor *out);
#include "relay_ir/ops.def"
#undef RELAY_OP

#endif
