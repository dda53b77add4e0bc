/* worker.h - a child process with a line protocol: one answer per request, "ok ..." or "error
 * TEXT". Examples: runtime/bench/harness.c, runtime/bench/peer_onnxruntime.py. */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

#include <stdbool.h>

#include "base/ctx.h"

struct worker;

/* Starts words[0] (searched in $PATH) with its arguments, NULL-terminated; stderr goes to the file
 * `messages`. who: name for diagnostics, "ONNX Runtime". NULL after an error. */
struct worker *worker_start(struct ctx *ctx, const char *who, const char *const *words,
                            const char *messages);

/* Sends a line (none if NULL) and waits for the answer. Returns the text after "ok ", valid until
 * the next call; NULL after an error, which quotes the worker or its cause of death. */
const char *worker_ask(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* worker_ask with n numbers as the answer. */
bool worker_ask_numbers(struct worker *worker, int n, double *numbers, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void worker_stop(struct worker *worker); /* NULL is fine */

#endif
