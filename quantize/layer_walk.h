/* layer_walk.h - runs a function product by product (convolution, dense, matmul), each over all
 * samples, so that what one layer shows may change the graph before the next is computed.
 *
 * Between two products only the values that are still to be read are kept, of as many samples as
 * fit into `memory`; the others are computed from the inputs again. So each node runs about once
 * per sample, and memory is bounded. Each thread has engines of its own for the part of the graph
 * at hand; sums are added in the order of samples: the number of threads changes no bit of the
 * result.
 */
#ifndef QUANTIZE_LAYER_WALK_H
#define QUANTIZE_LAYER_WALK_H

#include "quantize/calibrate.h"
#include "quantize/linear.h"

/* What a product gave, over all samples. */
struct layer_result {
    const double *mean;  /* [out_c] */
    const float *picked; /* [out_c, n_picked]: some numbers of each channel, evenly over samples and
                            positions: the same ones in every walk over products of this shape */
    int64_t n_picked;
};

struct layer_walk {
    struct ctx *ctx;
    struct function *fn;
    const struct calibration_source *source; /* at least one sample */
    int64_t n_samples;                       /* the first so many of them */
    int n_threads;
    size_t memory;    /* bytes; for values between products, over all samples */
    int64_t pick;     /* at most so many numbers of each channel and sample; 0 = none */
    const char *what; /* for errors: "correcting biases" */

    /* Which products are looked at: in the graph as it is when the walk begins. */
    bool (*wants)(void *user, const struct node *product);

    /* The product's result, in linear->out_c channels. May insert nodes behind the product, and
     * exchange constants of these; nothing in front of it. */
    bool (*see)(void *user, struct node *product, const struct linear *linear,
                const struct layer_result *result);
    void *user;
};

/* False after an error: a sample that cannot be loaded or run, a layer whose sum is no number. */
bool layer_walk(const struct layer_walk *walk);

#endif
