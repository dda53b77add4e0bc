/* equalize_pair.h - two products and what stands between them; for equalize.c. */
#ifndef QUANTIZE_EQUALIZE_PAIR_H
#define QUANTIZE_EQUALIZE_PAIR_H

#include "quantize/linear.h"
#include "quantize/steps.h"

/* A product with constant weights of f32. */
struct equal_layer {
    struct node *node;
    struct linear linear;
    float *greatest;             /* per block of weights: the greatest magnitude */
    struct equal_pair *in, *out; /* in which it is the second, the first; NULL = none */
};

struct equal_pair {
    struct equal_layer *first, *second;
    int64_t n;      /* channels of the first's result */
    int64_t repeat; /* of the second's data for each of them */
    double *factor; /* [n] s_i: the first's channels are divided by it, the second's weights take it
                     */
    bool moved;     /* some factor is not about 1 */
};

/* What the factors of the layer's pairs make of a block of its weights. */
double block_factor(const struct equal_layer *layer, int64_t block);

/* The node behind the product that is not passed by factors per channel, when it and all before it
 * are the only readers; its first input is the data. NULL when there is none. *repeat: see
 * axis_after_view. */
struct node *pair_end(const struct node *product, int axis, bool with_clips, int64_t *repeat);

/* New weights. */
void layer_rewrite(const struct equal_layer *layer);

/* New biases and bounds between the two, and new statistics. False after an error. */
bool pair_rewrite(struct quantization *q, const struct equal_pair *pair);

#endif
