/* worker.h - a process that is asked a line and answers with a line: "ok ..." or "error TEXT".
 * runtime/bench/harness.c is one, runtime/bench/peer_onnxruntime.py another. */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

#include <stdbool.h>

#include "base/ctx.h"

struct worker;

/* Starts words[0] (looked for in $PATH) with the arguments behind it, NULL-terminated; standard
 * error goes to the file `messages`. who: "ONNX Runtime", for diagnostics. NULL after an error. */
struct worker *worker_start(struct ctx *ctx, const char *who, const char *const *words,
                            const char *messages);

/* Sends a line (none for NULL) and waits for the answer: what stands behind "ok ", until the next
 * call. NULL after an error, which tells what the worker said, or how it died. */
const char *worker_ask(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The answer as n numbers. */
bool worker_ask_numbers(struct worker *worker, int n, double *numbers, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void worker_stop(struct worker *worker); /* NULL is fine */

#endif
