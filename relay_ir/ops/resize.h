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

/* Elements from what one output position of a dimension reads to what the next does, if that is the
 * same everywhere and every position has the same number of neighbours, as of whole factors down;
 * else 0. */
int64_t resize_step(const struct node *node, int dim);

/* Whether the dimension is resized at all, or shifted. */
bool resize_changes(const struct node *node, int dim);

/* --- of codes (qnn_resize.c) -------------------------------------------------------------------
 */

/* What qnn.resize can be: linear or cubic, of one to four dimensions. */
bool qnn_resize_takes(const struct node *node);

/* The bits of the weights of one dimension; whether sums need 64 bits, and results a bound. */
int qnn_resize_bits(const struct node *node);
bool qnn_resize_is_wide(const struct node *node);

/* The weights of a position as whole numbers, whose sum is 2^bits. */
void qnn_resize_weights(const struct resize_taps *taps, int bits, int32_t *weights);

#endif
