/* resize.h - coordinates and weights of image.resize, for the evaluator and for tables in generated
 * C. */
#ifndef RELAY_IR_OPS_RESIZE_H
#define RELAY_IR_OPS_RESIZE_H

#include "relay_ir/ir.h"

/* Contributions to an output position of one dimension: weight[k] of element at[k]. */
struct resize_taps {
    int n;        /* equal at all positions of a dimension that are not outside */
    bool outside; /* tf_crop_and_resize: n is 1, and the extrapolation value is used */
    int64_t *at;
    double *weight;
};

/* Taps of all output positions of a dimension of an image.resize node. In `bulk`. */
struct resize_taps *resize_taps(struct bulk *bulk, const struct node *node, int dim);

/* Distance in elements between the inputs of neighbouring output positions, if it is constant and
 * all positions have the same number of taps (as for integer downscaling); else 0. */
int64_t resize_step(const struct node *node, int dim);

/* True if each result is one of the input's numbers: by nearest neighbours, and not
 * tf_crop_and_resize, which has a number of its own besides. */
bool resize_only_moves(const struct resize_attrs *attrs);

/* True if the dimension is resized or shifted. */
bool resize_changes(const struct node *node, int dim);

/* --- quantised values (qnn_resize.c) ---------------------------------------------------------- */

/* True if qnn.resize can express the node: linear or cubic, one to four dimensions. */
bool qnn_resize_takes(const struct node *node);

/* Fractional bits of the weights of one dimension; and true if sums need 64 bits and results a
 * clamp. */
int qnn_resize_bits(const struct node *node);
bool qnn_resize_is_wide(const struct node *node);

/* True if halves of the narrow form go away from the value 0, not up. */
bool qnn_resize_ties_away(const struct node *node);

/* Weights of a position as integers that sum to 2^bits. */
void qnn_resize_weights(const struct resize_taps *taps, int bits, int32_t *weights);

#endif
