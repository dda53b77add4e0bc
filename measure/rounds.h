/* rounds.h - contenders timed side by side: a block of runs of each in turn, many times over.
 *
 * Absolute times vary with load and clock. So contenders alternate on one core, and ratios are
 * taken per round. */
#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#include "measure/statistics.h"
#include "measure/worker.h"

/* A contender: a worker that obeys "run" and "cold", or functions. */
struct contender {
    struct worker *worker;                            /* NULL = the functions */
    bool (*run)(void *user, long n, double *seconds); /* n runs; total CPU time */
    bool (*cold)(void *user, size_t flush_bytes, double *seconds);
    void *user;

    struct series warm, cold_runs; /* seconds per run: mean of each block; each cold run */
    long block;                    /* runs per block */
};

struct rounds {
    struct contender *contenders;
    int n_contenders;
    double seconds;       /* no warm round begins after this, once the minimum is done */
    long repeat;          /* exact number of warm rounds; 0 = by `seconds` */
    double block_seconds; /* least duration of a block */
    bool no_cold;         /* skip cold rounds */
    bool (*between)(void *user, double block_seconds); /* called once per warm round; may be NULL */
    void *user;
};

/* Runs warm rounds, then cold ones. First runs, with untouched pages and caches, do not count.
 * False after an error. */
bool rounds_run(struct ctx *ctx, struct rounds *rounds);

/* Runs n cold rounds after earlier warm ones. */
bool rounds_run_cold(struct rounds *rounds, int n);

/* Binds this process and its future children to one allowed core. Returns the core, -1 = not
 * permitted. */
int bind_to_core(void);

/* Bytes to write to flush the caches: 1.5 times the largest. */
size_t cache_flush_bytes(void);

/* This thread's CPU time in seconds. */
double thread_seconds(void);

/* Monotonic time in seconds. */
double wall_seconds(void);

#endif
