/* expectation.h - what is known of a graph's values without data: where a batch norm's numbers go
 * from its result on, channel by channel, up to products, whose results are known by their own
 * batch norms only.
 *
 * Bounds (relu, clip, minimum ...) are exact; other functions of one number are integrated and
 * their result taken as normal; what is added counts as independent. Averages keep the mean.
 * Padding is neglected. Nothing is known of maxima over a window. */
#ifndef QUANTIZE_EXPECTATION_H
#define QUANTIZE_EXPECTATION_H

#include "quantize/batch_norms.h"
#include "quantize/clipped_normal.h"

struct expectation {
    int axis; /* of the channels */
    int64_t n;
    struct clipped_normal *channels; /* [n] */
};

/* For each value of fn, by id (it is numbered): NULL = nothing is known. In the arena. */
const struct expectation **expectations(struct ctx *ctx, struct arena *arena, struct function *fn,
                                        const struct batch_norms *norms);

/* expectation_unary.c: E[f(x)] of an operator with one input, by integration; the result is normal.
 * False when the operator cannot be computed. */
bool expectation_unary(struct ctx *ctx, const struct node *node, const struct expectation *x,
                       struct clipped_normal *y);

#endif
