/* run.h - a network on samples: what it says, as answers.h reads it. */
#ifndef EVAL_RUN_H
#define EVAL_RUN_H

#include "eval/answers.h"
#include "quantize/calibrate.h"
#include "runtime/engine/generated.h"

struct eval_run {
    struct function *fn; /* after the passes */
    const struct calibration_source *samples;
    int n_threads;                                         /* of the engine */
    void (*progress)(void *user, int64_t done, int64_t n); /* NULL = none; one thread at a time */
    void *user;
};

/* On the engine: each thread has one of its own. The first n samples, n being that of the answers.
 * The same for any number of threads. False after an error: of samples that fail, the first is
 * reported. */
bool eval_on_engine(struct ctx *ctx, const struct eval_run *run, struct answers *answers);

/* By generated code, sample after sample; the samples must be of the types of fn's parameters. */
bool eval_on_generated(struct ctx *ctx, const struct eval_run *run, struct generated *generated,
                       struct answers *answers);

#endif
