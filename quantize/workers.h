/* workers.h - worker threads with an engine each, for work on samples. */
#ifndef QUANTIZE_WORKERS_H
#define QUANTIZE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

struct engine;

/* Runs body(&workers[i]) for n workers of `size` bytes, one thread each; those that cannot start
 * run later, one after the other. False after an error if one never can. oneDNN computes on one
 * core per thread, since its own threads would make sums depend on the number of cores. */
bool workers_run(struct ctx *ctx, void *workers, size_t size, int n, void (*body)(void *worker));

/* First member of every worker struct. */
struct sample_worker {
    struct ctx *ctx;       /* private to the worker */
    struct engine *engine; /* made by ready() */
    int index, n;          /* of n workers */
    int64_t failed;        /* first failed sample, -1 = none; set by work() */
};

struct sample_work {
    const char *about;           /* prefix of errors; may be NULL */
    bool (*ready)(void *worker); /* makes the engine; called by one thread, since it numbers
                                    nodes */
    void (*work)(void *worker);  /* called on a thread per worker */
    void (*done)(void *worker);  /* frees other resources of ready(); NULL = none */
};

/* Number of workers: at least one, at most n_samples. */
int workers_wanted(int64_t n_samples, int n_threads);

/* Prepares n workers of `size` bytes each, runs them, and frees their engines and contexts. Sets
 * the members of sample_worker; the caller sets all others before. False after the error of the
 * worker with the first failed sample. */
bool workers_on_samples(struct ctx *ctx, void *workers, size_t size, int n,
                        const struct sample_work *work);

/* Copies diagnostics from `from` to `to`, with `about` (may be NULL) in front of errors. Origins
 * are dropped, since nodes may not outlive `from`. */
void workers_report(struct ctx *to, const struct ctx *from, const char *about);

#endif
