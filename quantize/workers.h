/* workers.h - threads that each have an engine of their own, and work on samples. */
#ifndef QUANTIZE_WORKERS_H
#define QUANTIZE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

struct engine;

/* Runs body(&workers[i]) for n workers of `size` bytes each, a thread for each; those that cannot
 * be started at first one after the other, later. False after an error when one never can. In each,
 * oneDNN computes on one core: its own threads would divide sums by the number of cores, and be in
 * the way of ours. */
bool workers_run(struct ctx *ctx, void *workers, size_t size, int n, void (*body)(void *worker));

/* What workers on samples have in common: the first member of theirs. */
struct sample_worker {
    struct ctx *ctx;       /* its own */
    struct engine *engine; /* made by ready() */
    int index, n;          /* of n workers */
    int64_t failed;        /* a sample, -1 = none did; set by work() */
};

struct sample_work {
    const char *about;           /* in front of errors; may be NULL */
    bool (*ready)(void *worker); /* makes the engine; all by one thread, as that numbers nodes */
    void (*work)(void *worker);  /* a thread for each */
    void (*done)(void *worker);  /* frees what else ready() made; NULL = nothing */
};

/* How many workers there are to be: at least one, and not more than samples. */
int workers_wanted(int64_t n_samples, int n_threads);

/* Makes n workers of `size` bytes each ready, lets them work and frees their engines and contexts.
 * What sample_worker has is set here, all else before. False after an error: what the worker said
 * whose failed sample comes first. */
bool workers_on_samples(struct ctx *ctx, void *workers, size_t size, int n,
                        const struct sample_work *work);

/* Says to `to` all that was said to `from`; `about`, which may be NULL, stands in front of errors.
 * Which nodes they speak of is lost: those may not outlive `from`. */
void workers_report(struct ctx *to, const struct ctx *from, const char *about);

#endif
