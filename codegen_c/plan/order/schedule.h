/* schedule.h - the order of tasks in which the most memory alive at one time is least.
 *
 * Knows no graph of operators: tasks touch buffers, and some tasks come before others. A buffer is
 * alive from the first task that writes it to the last that touches it. A task may put what it
 * writes over a buffer that nobody else touches afterwards: then the two are not alive together. Or
 * it lets what it writes begin in front of such a buffer and reach into it: then the two share some
 * bytes while it runs.
 * Memory is what buffers need; whether they can be packed without gaps is pack.c's question.
 *
 * Exact where the search finishes, which it does for the networks we know; else the best that was
 * found, beside a bound that no order goes below. Deterministic: steps of work are counted, not
 * time. An order is changed only where that makes the greatest need less, so that a small change
 * of a network remains a small change of its C. */
#ifndef CODEGEN_C_PLAN_ORDER_SCHEDULE_H
#define CODEGEN_C_PLAN_ORDER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct schedule_buffer {
    size_t bytes;
    const int *writers, *readers; /* tasks, each once; a task that does both is in both */
    int n_writers, n_readers;
};

/* Tasks are numbered so that each comes after those it waits for: 0, 1, 2 ... is an order. */
struct schedule_task {
    const int *after; /* tasks that must be done before, all of lower numbers */
    int n_after;
    size_t scratch;  /* bytes that it needs while it runs */
    const int *over; /* buffers that what it writes may take over, of the same size as that */
    int n_over;
    int lap; /* a buffer that shares lap_bytes with the one that it writes while it runs, … */
    size_t lap_bytes; /* … if nobody touches it later; 0 = there is none */
};

struct schedule_problem {
    const struct schedule_task *tasks;
    const struct schedule_buffer *buffers;
    int n_tasks, n_buffers;
};

struct schedule {
    int *order;         /* [n_tasks]: what runs first, second ...; of the arena */
    size_t peak;        /* bytes alive at once in this order */
    size_t given_peak;  /* in the order 0, 1, 2 ... */
    size_t lower_bound; /* no order needs less */
    bool optimal;       /* peak == lower_bound */
    uint64_t work;      /* steps taken */
};

/* Steps of search for one network: some tenths of a second. */
enum { SCHEDULE_WORK = 20000000 };

struct schedule schedule_tasks(struct arena *arena, const struct schedule_problem *problem,
                               uint64_t work);

/* Bytes alive at once in an order, which must be one that the tasks allow. */
size_t schedule_peak(struct arena *scratch, const struct schedule_problem *problem,
                     const int *order);

/* Whether each task is there once and comes after those it waits for. */
bool schedule_verify(struct arena *scratch, const struct schedule_problem *problem,
                     const int *order);

#endif
