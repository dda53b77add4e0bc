/* resize.h - where image.resize reads, for the evaluator and for code with tables of it. */
#ifndef RELAY_IR_OPS_RESIZE_H
#define RELAY_IR_OPS_RESIZE_H

#include "relay_ir/ir.h"

/* What an output position of one dimension is made of: weight[k] of element at[k]. */
struct resize_taps {
    int n;        /* the same at all positions of a dimension that are not outside */
    bool outside; /* tf_crop_and_resize: the extrapolation value instead; n is 1 */
    int64_t *at;
    double *weight;
};

/* The taps of all output positions of a dimension of an image.resize node. In `bulk`. */
struct resize_taps *resize_taps(struct bulk *bulk, const struct node *node, int dim);

#endif
