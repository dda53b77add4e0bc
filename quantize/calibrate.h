/* calibrate.h - runs a network on samples and records the distribution of each tensor.
 *
 * One pass. Each thread has its own single-core engine, takes the next sample and merges each
 * tensor's tally into the common one; sums are added in sample order. So memory is independent of
 * the number of samples, and the result of the number of threads. */
#ifndef QUANTIZE_CALIBRATE_H
#define QUANTIZE_CALIBRATE_H

#include "quantize/calib_table.h"
#include "relay_ir/ir.h"

/* Number of unloadable samples that errors name; the others are counted. */
enum { CALIBRATION_MOST_NAMED = 20 };

/* Source of samples. `load` fills one tensor per parameter or reports an error; it is called
 * concurrently, with a ctx and bulk per thread, which are emptied after each sample. */
struct calibration_source {
    int64_t n;
    bool (*load)(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs);
    void *user;
};

struct calibration_options {
    int n_threads;                                         /* at least 1 */
    void (*progress)(void *user, int64_t done, int64_t n); /* calls are serialised */
    void *user;
    int n_methods;
    const struct threshold_method *methods; /* thresholds to compute */
};

/* Records every floating-point value of fn: parameters, then node outputs in order. The first
 * failing sample is reported. *out is in ctx->perm. False after an error. */
bool calibrate(struct ctx *ctx, struct function *fn, const struct calibration_source *source,
               const struct calibration_options *options, struct calib_table *out);

#endif
