/* equalize_pair.h - two consecutive products and the nodes between them; for equalize.c. */
#ifndef QUANTIZE_EQUALIZE_PAIR_H
#define QUANTIZE_EQUALIZE_PAIR_H

#include "quantize/linear.h"
#include "quantize/steps.h"

/* A product with constant f32 weights. */
struct equal_layer {
    struct node *node;
    struct linear linear;
    float *greatest;             /* per block of weights: greatest magnitude */
    struct equal_pair *in, *out; /* pair in which it is second, first; NULL = none */
};

struct equal_pair {
    struct equal_layer *first, *second;
    int64_t n;      /* channels of first's result */
    int64_t repeat; /* elements of second's data per channel */
    double *factor; /* [n] s_i: divides first's channels, multiplies second's weights */
    bool moved;     /* some factor differs from 1 */
};

/* Factor of a block of the layer's weights, from its pairs. */
double block_factor(const struct equal_layer *layer, int64_t block);

/* First node after the product that does not commute with per-channel factors, if all nodes before
 * it have one reader; its input 0 is the data. NULL if there is none. *repeat: see
 * axis_after_view. */
struct node *pair_end(const struct node *product, int axis, bool with_clips, int64_t *repeat);

/* Replaces the layer's weights. */
void layer_rewrite(const struct equal_layer *layer);

/* Replaces biases and clamps between the two, and statistics. False after an error. */
bool pair_rewrite(struct quantization *q, const struct equal_pair *pair);

#endif
