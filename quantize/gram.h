/* gram.h - Gram matrices of product inputs over samples: sums of x_i x_j over the inputs of an
 * output. For a row w of weights stored as q, the squared error of the results is (w - q) H (w -
 * q). For rounding and smoothing.
 *
 * Up to 256 positions of each sample count, evenly spread. Sums are added in four lanes of samples,
 * then across lanes: the number of threads changes no bit. */
#ifndef QUANTIZE_GRAM_H
#define QUANTIZE_GRAM_H

#include "quantize/linear.h"
#include "quantize/steps.h"

struct gram {
    const struct node *product;
    struct linear linear;
    int64_t k;       /* inputs of an output: in_c / groups * taps, in the weight's order */
    float *sums;     /* [groups, k, k]; NULL = not wanted */
    float *greatest; /* [in_c]: greatest magnitudes */
    int64_t n;       /* number of positions over all samples */
};

/* Fills all but sums and greatest. False if unsupported: transposed convolutions, channels-last
 * data, batches of weights. */
bool gram_prepare(const struct node *product, struct gram *out);

/* Memory of the sums while they are collected, in bytes. */
size_t gram_bytes(const struct gram *gram);

/* Runs the module's main on the samples and fills the grams, in the arena. False after an error. */
bool grams_collect(struct quantization *q, struct gram *grams, int n, bool with_sums,
                   struct arena *arena);

#endif
