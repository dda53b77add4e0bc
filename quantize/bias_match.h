/* bias_match.h - which number in the bias of a channel gives back its mean, as it is behind the
 * activation.
 *
 * Quantised weights move the mean of a channel, and they make its numbers smaller: what is rounded
 * no longer adds up. In front of a relu, whose mean depends on both, giving back the mean alone can
 * be worse than nothing: where a channel is mostly below zero, its few numbers above it fall still
 * lower. (squeezenet11 in mxfp4, 4 bits: 39.8 % of images are recognised without a correction, 0.2
 * % with the means in front of the relus given back.) So what is given back is what the next layer
 * reads: the mean behind the relu. */
#ifndef QUANTIZE_BIAS_MATCH_H
#define QUANTIZE_BIAS_MATCH_H

#include "quantize/linear.h"

/* y = a function that never falls of the product's result: its bias, and relu, clip or leaky_relu
 * where nothing else reads what is between. */
struct activation {
    const struct node *bias; /* bias_add with a constant; NULL = none */
    int n;
    const struct node *nodes[4];
};

struct activation activation_of(const struct node *product, const struct linear *linear);

/* The shift of one channel. wanted, found: n numbers of the float and of the quantised product, of
 * the same samples and positions, without their bias; difference: of the means of all numbers,
 * which is the shift where there is no activation, or where it gives the same mean behind it. */
double bias_match(const struct activation *activation, int64_t channel, const float *wanted,
                  const float *found, int64_t n, double difference);

#endif
