/* bias_match.h - bias correction of a channel through its activation.
 *
 * Quantised weights shift the mean of a channel and shrink its values. Before a relu the mean of
 * the result depends on both, and restoring only the mean of the product can be worse than no
 * correction: in a channel that is mostly negative, the few positive values sink further. So the
 * mean after the activation, which the next layer reads, is restored. Figures:
 * docs/lab/measured.md. */
#ifndef QUANTIZE_BIAS_MATCH_H
#define QUANTIZE_BIAS_MATCH_H

#include "quantize/linear.h"

/* A monotonic function of a product's result: its bias, then relu, clip or leaky_relu, as long as
 * nothing else reads the values between. */
struct activation {
    const struct node *bias; /* bias_add of a constant; NULL = none */
    int n;
    const struct node *nodes[4];
};

struct activation activation_of(const struct node *product, const struct linear *linear);

/* Bias shift of one channel. wanted, found: n values of the float and the quantised product for
 * equal samples and positions, without bias. difference: of the means over all values; returned if
 * there is no activation, or if it already restores the mean after it. */
double bias_match(const struct activation *activation, int64_t channel, const float *wanted,
                  const float *found, int64_t n, double difference);

#endif
