/* workers.h - threads that each have an engine of their own, and work on samples. */
#ifndef QUANTIZE_WORKERS_H
#define QUANTIZE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ctx.h"

/* Runs body(&workers[i]) for n workers of `size` bytes each, a thread for each; as many as can be
 * started. False after an error when none can. In each, oneDNN computes on one core: its own
 * threads would divide sums by the number of cores, and be in the way of ours. */
bool workers_run(struct ctx *ctx, void *workers, size_t size, int n, void (*body)(void *worker));

/* Says to `to` all that was said to `from`; `about`, which may be NULL, stands in front of errors.
 * Which nodes they speak of is lost: those may not outlive `from`. */
void workers_report(struct ctx *to, const struct ctx *from, const char *about);

#endif
