/* ops.h - type inference and reference evaluation of every operator, a file per family; the
 * declarations come from ops.def, so that a row without its functions does not link. */
#ifndef RELAY_IR_OPS_OPS_H
#define RELAY_IR_OPS_OPS_H

#include "relay_ir/ir.h"

/* Shared by several families. */

/* The NumPy broadcast of two shapes, with a's element type; out may be a or b. False (no
 * diagnostic) when they do not broadcast. */
bool shape_broadcast(const struct type *a, const struct type *b, struct type *out);

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

/* Row-major element strides of `type`, with 0 where its dim is 1, aligned to the right of a shape
 * of rank `rank` (so that a broadcast operand is addressed by the output's coordinates). */
void shape_broadcast_strides(const struct type *type, int rank, int64_t *strides);

/* Row-major element strides. */
void shape_strides(const struct type *type, int64_t *strides);

#define RELAY_OP(symbol, name, attrs, least, most, outputs, pattern, infer, evaluate)              \
    bool infer(struct ctx *ctx, struct node *node);                                                \
    bool evaluate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,        \
                  struct tensor *out);
#include "relay_ir/ops.def"
#undef RELAY_OP

#endif
