/* norm.h - what the norms of floats (norm.c) and of codes (qnn_norm.c) share. */
#ifndef RELAY_IR_OPS_NORM_H
#define RELAY_IR_OPS_NORM_H

#include "relay_ir/ir.h"

/* Of a tensor with the channels first: elements that share a mean lie together; so do those that
 * share a scale. */
struct norm_blocks {
    int64_t size;       /* of a block with one mean */
    int64_t scale_size; /* elements in a row with the same scale … */
    int64_t n_scales;   /* … before the scales start again */
};

struct norm_blocks norm_blocks_of(const struct node *node, const struct type *x);

/* Whether the channels are the last dimension of x, and not the second: of instance_norm and
 * group_norm. */
bool norm_is_last(const struct node *node);

/* The shape of x with the channels first. */
struct type norm_first(const struct node *node, const struct type *x);

/* For type inference: the attributes of instance_norm, group_norm or layer_norm, and inputs `scale`
 * and `scale` + 1, what is multiplied and added behind. */
bool norm_check(struct ctx *ctx, struct node *node, int scale);

#endif
