/* schedule_stretch.h - the best order of a stretch of tasks. Used by schedule.c only.
 *
 * What lies before and after the stretch stays there: all before it is done, and what the rest
 * still touches stays alive. */
#ifndef CODEGEN_C_PLAN_ORDER_SCHEDULE_STRETCH_H
#define CODEGEN_C_PLAN_ORDER_SCHEDULE_STRETCH_H

#include "codegen_c/plan/order/schedule.h"

/* The most tasks in a stretch. Sets of them are words of bits, compared and hashed often. */
enum { STRETCH_TASKS = 256 };

/* Reorders order[from .. to), at most STRETCH_TASKS, so that the most alive in it is least, or
 * `enough` if it can be that or less. Returns that most; the order is as it was when nothing better
 * was found. *proved says whether there is no better one: else the work allowed (for the exact part
 * of the search, added to *work) did not suffice. */
size_t schedule_stretch(const struct schedule_problem *problem, int *order, int from, int to,
                        size_t enough, uint64_t limit, uint64_t *work, bool *proved);

#endif
