/* rounds.h - contenders timed side by side: a block of runs of each in turn, many times over.
 *
 * On a machine that others use, and whose clock changes, one time alone says little. What is
 * compared runs alternately on one core, and the ratio is taken round by round. */
#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#include "measure/statistics.h"
#include "measure/worker.h"

/* One of those that are compared. It has either a worker that obeys "run" and "cold", or functions.
 */
struct contender {
    struct worker *worker;                            /* NULL = the functions */
    bool (*run)(void *user, long n, double *seconds); /* n runs; their CPU time in all */
    bool (*cold)(void *user, size_t flush_bytes, double *seconds);
    void *user;

    struct series warm, cold_runs; /* seconds of a run: the mean of each block; each cold run */
    long block;                    /* runs of a block */
};

struct rounds {
    struct contender *contenders;
    int n_contenders;
    double seconds;       /* after which no warm round begins, with the fewest done */
    long repeat;          /* warm rounds exactly; 0 = as many as `seconds` allow */
    double block_seconds; /* that a block is to take at least */
    bool no_cold;         /* leave the cold rounds out */
    bool (*between)(void *user, double block_seconds); /* called once a warm round; may be NULL */
    void *user;
};

/* Warm rounds, then cold ones. Nothing is counted of the first runs of each, which find pages and
 * caches untouched. False after an error. */
bool rounds_run(struct ctx *ctx, struct rounds *rounds);

/* Cold rounds alone, n of them, of contenders that have had warm ones. */
bool rounds_run_cold(struct rounds *rounds, int n);

/* Binds this process, and those that it starts from now on, to one of the cores it may use. -1 =
 * the system does not let us. */
int bind_to_core(void);

/* So much is written to empty the caches: half as much again as the greatest of them. */
size_t cache_flush_bytes(void);

/* This thread's CPU time in seconds. */
double thread_seconds(void);

/* The time of day in seconds, from some point on: never goes back. */
double wall_seconds(void);

#endif
