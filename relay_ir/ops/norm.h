/* norm.h - shared by the norms of floats (norm.c) and of quantised values (qnn_norm.c). */
#ifndef RELAY_IR_OPS_NORM_H
#define RELAY_IR_OPS_NORM_H

#include "relay_ir/ir.h"

/* Blocks of a channels-first tensor: elements that share a mean are adjacent, and so are those that
 * share a scale. */
struct norm_blocks {
    int64_t size;       /* elements that share a mean */
    int64_t scale_size; /* adjacent elements that share a scale ... */
    int64_t n_scales;   /* ... and number of scales before they repeat */
};

struct norm_blocks norm_blocks_of(const struct node *node, const struct type *x);

/* True if the channels of instance_norm or group_norm are the last dimension of x, not the
 * second. */
bool norm_is_last(const struct node *node);

/* Shape of x with the channels first. */
struct type norm_first(const struct node *node, const struct type *x);

/* Type inference: checks the attributes of instance_norm, group_norm or layer_norm, and inputs
 * `scale` and `scale` + 1 (gamma, beta). */
bool norm_check(struct ctx *ctx, struct node *node, int scale);

#endif
