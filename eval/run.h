/* run.h - runs a network on samples and collects the answers (answers.h). */
#ifndef EVAL_RUN_H
#define EVAL_RUN_H

#include "eval/answers.h"
#include "quantize/calibrate.h"
#include "runtime/engine/generated.h"

struct eval_run {
    struct function *fn; /* after all passes */
    const struct calibration_source *samples;
    int64_t first; /* answers below are there already */
    int n_threads;
    void (*progress)(void *user, int64_t done, int64_t n); /* NULL = none; calls are serialised */
    void *user;
};

/* Runs samples run->first to answers->n on engines, one per thread. Independent of the number of
 * threads. The first failing sample is reported. False after an error. */
bool eval_on_engine(struct ctx *ctx, const struct eval_run *run, struct answers *answers);

/* The same by generated code, one caller per thread. Samples must have the types of fn's
 * parameters. */
bool eval_on_generated(struct ctx *ctx, const struct eval_run *run, struct generated *generated,
                       struct answers *answers);

#endif
