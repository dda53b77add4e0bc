#define _GNU_SOURCE /* sched_setaffinity */
#include "measure/rounds.h"

#include <math.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { FEWEST = 5, MOST = 1000, COLD_FEWEST = 5, COLD_MOST = 15 };

#define MOST_RUNS 1e6 /* of a block */

static double clock_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double thread_seconds(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

double wall_seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* The last one: the first serves most interrupts. */
int bind_to_core(void)
{
    cpu_set_t allowed, one;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    for (size_t core = CPU_SETSIZE; core-- > 0;)
        if (CPU_ISSET(core, &allowed)) {
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0 ? (int)core : -1;
        }
    return -1;
}

size_t cache_flush_bytes(void)
{
    const size_t least = (size_t)64 << 20, most = (size_t)512 << 20;
    long greatest = 0;
    size_t bytes;

#ifdef _SC_LEVEL3_CACHE_SIZE
    greatest = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    bytes = greatest > 0 ? (size_t)greatest + (size_t)greatest / 2 : 0;
    return bytes < least ? least : bytes > most ? most : bytes;
}

static bool run(struct contender *c, long n, double *seconds)
{
    return c->worker ? worker_ask_numbers(c->worker, 1, seconds, "run %ld", n)
                     : c->run(c->user, n, seconds);
}

static bool run_cold(struct contender *c, size_t flush_bytes, double *seconds)
{
    return c->worker ? worker_ask_numbers(c->worker, 1, seconds, "cold %zu", flush_bytes)
                     : c->cold(c->user, flush_bytes, seconds);
}

/* How many runs make a block, by a first run that is not counted and a second. */
static bool settle_block(struct contender *c, double block_seconds)
{
    double seconds;

    if (!run(c, 1, &seconds) || !run(c, 1, &seconds))
        return false;
    c->block = (long)fmin(MOST_RUNS, ceil(block_seconds / fmax(seconds, 1e-7)));
    return true;
}

static bool warm_round(struct rounds *rounds)
{
    for (int i = 0; i < rounds->n_contenders; i++) {
        struct contender *c = &rounds->contenders[i];
        double seconds;

        /* One run for the caches, which the contender before has filled. */
        if (!run(c, 1, &seconds) || !run(c, c->block, &seconds))
            return false;
        series_add(&c->warm, seconds / (double)c->block);
    }
    return !rounds->between || rounds->between(rounds->user, rounds->block_seconds);
}

bool rounds_run_cold(struct rounds *rounds, int n)
{
    const size_t flush_bytes = cache_flush_bytes();

    for (int round = -1; round < n; round++)
        for (int i = 0; i < rounds->n_contenders; i++) {
            struct contender *c = &rounds->contenders[i];
            double seconds;

            if (!run_cold(c, flush_bytes, &seconds))
                return false;
            if (round >= 0)
                series_add(&c->cold_runs, seconds);
        }
    return true;
}

bool rounds_run(struct ctx *ctx, struct rounds *rounds)
{
    double start;
    int n = 0;

    for (int i = 0; i < rounds->n_contenders; i++) {
        struct contender *c = &rounds->contenders[i];

        c->warm.arena = c->cold_runs.arena = &ctx->perm;
        if (!settle_block(c, rounds->block_seconds))
            return false;
    }
    start = wall_seconds();
    for (;; n++) {
        const bool over = wall_seconds() - start >= rounds->seconds;

        if (rounds->repeat ? n >= rounds->repeat : n >= FEWEST && (over || n >= MOST))
            break;
        if (!warm_round(rounds))
            return false;
    }
    if (rounds->no_cold)
        return true;
    return rounds_run_cold(rounds, n < COLD_FEWEST && !rounds->repeat ? COLD_FEWEST
                                   : n > COLD_MOST                    ? COLD_MOST
                                                                      : n);
}
