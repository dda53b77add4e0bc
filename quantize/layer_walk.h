/* layer_walk.h - runs a function product by product (convolution, dense, matmul) over all samples,
 * so that the result of one layer may change the graph before the next.
 *
 * Between products, live values are kept for as many samples as fit into `memory`; for the others
 * they are recomputed from the inputs. So each node runs about once per sample, in bounded memory.
 * Threads have their own engines; sums are added in sample order: the number of threads changes no
 * bit. */
#ifndef QUANTIZE_LAYER_WALK_H
#define QUANTIZE_LAYER_WALK_H

#include "quantize/calibrate.h"
#include "quantize/linear.h"

/* Results of a product over all samples. */
struct layer_result {
    const double *mean;  /* [out_c] */
    const float *picked; /* [out_c, n_picked]: values at positions spread evenly over samples; equal
                            positions in every walk over products of this shape */
    int64_t n_picked;
};

struct layer_walk {
    struct ctx *ctx;
    struct function *fn;
    const struct calibration_source *source; /* at least one sample */
    int64_t n_samples;                       /* use the first n_samples */
    int n_threads;
    size_t memory;    /* bytes for live values of all samples */
    int64_t pick;     /* picked values per channel and sample, at most; 0 = none */
    const char *what; /* for errors: "correcting biases" */

    /* Selects products, in the graph as it is at the start. */
    bool (*wants)(void *user, const struct node *product);

    /* Receives a product's result, in linear->out_c channels. May insert nodes after the product
     * and exchange their constants; nothing before it. */
    bool (*see)(void *user, struct node *product, const struct linear *linear,
                const struct layer_result *result);
    void *user;
};

/* False after an error: a sample that cannot be loaded or run, or a sum that is NaN. */
bool layer_walk(const struct layer_walk *walk);

#endif
