/* calibrate.h - runs a network on samples and records what its tensors hold.
 *
 * One pass. Each thread has an engine of its own, which computes on one core, takes the next sample
 * and adds each tensor's tally to the common one; sums are added in the order of the samples. So
 * memory does not depend on the number of samples, nor the result on the number of threads. */
#ifndef QUANTIZE_CALIBRATE_H
#define QUANTIZE_CALIBRATE_H

#include "quantize/calib_table.h"
#include "relay_ir/ir.h"

/* Of samples that cannot be loaded so many are named, the others counted. */
enum { CALIBRATION_MOST_NAMED = 20 };

/* `load` is called from several threads at once, each with its own ctx and bulk, which are emptied
 * after the sample. It fills one tensor per parameter of the function, or gives an error. */
struct calibration_source {
    int64_t n;
    bool (*load)(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs);
    void *user;
};

struct calibration_options {
    int n_threads;                                         /* at least 1 */
    void (*progress)(void *user, int64_t done, int64_t n); /* never by two threads at once */
    void *user;
    int n_methods;
    const struct threshold_method *methods; /* what thresholds are wanted */
};

/* Every floating-point value of fn: parameters, then the outputs of nodes in order. Of samples that
 * cannot be loaded or run, the first is reported. Everything in *out lives in ctx->perm. False
 * after an error. */
bool calibrate(struct ctx *ctx, struct function *fn, const struct calibration_source *source,
               const struct calibration_options *options, struct calib_table *out);

#endif
