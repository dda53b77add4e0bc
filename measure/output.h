/* output.h - a command, run to its end, with all that it prints in a file. */
#ifndef MEASURE_OUTPUT_H
#define MEASURE_OUTPUT_H

#include "base/ctx.h"

/* A command line's words (divided by blanks) with {exe} replaced by the program's path, or the
 * program behind them. NULL-terminated, in ctx->perm. runner may be NULL. */
const char *const *runner_words(struct ctx *ctx, const char *runner, const char *program);

/* Runs words[0] (looked for in $PATH); standard output and error go to the file. Its exit code, 128
 * and the signal's number if one ended it, -1 after an error: it could not be started. */
int run_to_file(struct ctx *ctx, const char *const *words, const char *path);

#endif
