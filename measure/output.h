/* output.h - runs a command to its end, with its output in a file. */
#ifndef MEASURE_OUTPUT_H
#define MEASURE_OUTPUT_H

#include "base/ctx.h"

/* Splits `runner` (may be NULL) at blanks and replaces {exe} by the program's path, or appends it.
 * NULL-terminated, in ctx->perm. */
const char *const *runner_words(struct ctx *ctx, const char *runner, const char *program);

/* Runs words[0] (searched in $PATH) with stdout and stderr in the file. Returns its exit code, 128
 * + signal if killed, -1 after an error: it did not start. */
int run_to_file(struct ctx *ctx, const char *const *words, const char *path);

#endif
