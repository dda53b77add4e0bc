/* schedule_search.h - the best order of a stretch of tasks, among all of them. Used by
 * schedule_stretch.c only. */
#ifndef CODEGEN_C_PLAN_ORDER_SCHEDULE_SEARCH_H
#define CODEGEN_C_PLAN_ORDER_SCHEDULE_SEARCH_H

#include "codegen_c/plan/order/schedule_stretch.h"

enum { SET_WORDS = STRETCH_TASKS / 64 };

struct task_set {
    uint64_t bits[SET_WORDS];
};

/* A buffer that tasks of the stretch touch. */
struct local_buffer {
    size_t bytes;
    struct task_set writers, touching;
    bool written_before, touched_after;
};

struct local_task {
    struct task_set after;
    const int *before; /* tasks that wait for it */
    int n_before;
    size_t scratch;
    const int *writes, *touches, *over; /* local buffers */
    int n_writes, n_touches, n_over;
    int lap; /* local, as in schedule.h */
    size_t lap_bytes;
};

struct stretch {
    struct arena *arena;
    int n_tasks, n_buffers;
    struct local_task *tasks;
    struct local_buffer *buffers;
    size_t alive;  /* bytes of these buffers alive before the first task */
    size_t enough; /* an order that needs no more is as good as any */
};

bool set_has(const struct task_set *set, int i);
void set_add(struct task_set *set, int i);
bool set_is_empty(const struct task_set *set);

/* The most alive when the tasks run as numbered. */
size_t stretch_peak(const struct stretch *stretch);

/* Fills order[n_tasks], best first where the work suffices (*proved), else as good as a beam finds.
 * Returns the most that is alive, or `enough` where it is less. Adds the steps done to *work. */
size_t stretch_search(const struct stretch *stretch, uint64_t limit, uint64_t *work, int *order,
                      bool *proved);

#endif
