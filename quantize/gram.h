/* gram.h - what products read, over samples: the sums of x_i x_j of all numbers that one output
 * sees together, which say what an error of the weights costs: for a row w of weights, stored as q,
 * the squared error of the results is (w - q) H (w - q). For rounding and smoothing.
 *
 * Of each sample up to 256 positions are taken, evenly. Sums are added in four lanes of samples,
 * then these: the number of threads changes no bit. */
#ifndef QUANTIZE_GRAM_H
#define QUANTIZE_GRAM_H

#include "quantize/linear.h"
#include "quantize/steps.h"

struct gram {
    const struct node *product;
    struct linear linear;
    int64_t k;       /* numbers that an output reads: in_c / groups * taps, in the weight's order */
    float *sums;     /* [groups, k, k]; NULL = are not wanted */
    float *greatest; /* [in_c]: of the magnitudes */
    int64_t n;       /* positions, over all samples */
};

/* Fills all but the numbers. False for what is not taken: transposed convolutions, data with the
 * channels last, batches of weights. */
bool gram_prepare(const struct node *product, struct gram *out);

/* Bytes that its sums take while they are collected. */
size_t gram_bytes(const struct gram *gram);

/* Runs the module's main function, as it is now, on the samples. What is found lives in the arena.
 * False after an error. */
bool grams_collect(struct quantization *q, struct gram *grams, int n, bool with_sums,
                   struct arena *arena);

#endif
