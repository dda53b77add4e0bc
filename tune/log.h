/* log.h - tuning log: JSON lines, one trial each (members in docs/guide/tune.md).
 *
 * Lines are appended and written whole: a log survives a kill, and logs of several runs and
 * machines are merged by concatenation. */
#ifndef TUNE_LOG_H
#define TUNE_LOG_H

#include <stdbool.h>

#include "base/ctx.h"
#include "codegen_c/core/knob.h"
#include "codegen_c/machine/features.h"

/* What measurements depend on, besides the region. Never NULL. */
struct tune_key {
    const char *target;   /* CPU of the generated C: row of machines.def */
    const char *compiler; /* its version text */
    const char *flags;
    const char *cpu;    /* name from the system; "" = unknown */
    const char *runner; /* program runner without its folder; "" = none */
};

enum verdict {
    VERDICT_OK,
    VERDICT_WRONG, /* outputs differ from the default code's */
    VERDICT_FAILED /* it did not build, or crashed */
};

/* A choice for a region, measured next to the default. */
struct trial {
    struct tune_key key;
    const char *region; /* signature */
    struct choice choice;
    const char *kernel;  /* selected kernel; "" = unknown */
    const char *unknown; /* an unknown knob in the line; NULL = none */
    bool confirmed;      /* measured again in a fresh process for longer; only these are used */
    enum verdict verdict;
    const char *reason;            /* of a failure; else "" */
    double error;                  /* output error relative to the largest magnitude */
    double warm, usual_warm;       /* median seconds per run */
    double cold, usual_cold;       /* with cold caches; 0 = not measured */
    struct features features;      /* of the variant, for bench/fit_costs.py; may be all 0 */
    double warm_ratio, cold_ratio; /* median ratios to the default, lower is better; 0 = not
                                      measured */
};

struct tune_log {
    struct trial *at;
    int n, capacity;
};

/* Score of a trial: the time ratio, warm counting twice as much as cold, since within a network
 * data is warm and weights often are not. Lower is better; the default code is 1. */
double trial_score(const struct trial *trial);

bool trial_same_key(const struct trial *trial, const struct tune_key *key);

/* Adds the lines of a file; texts are in ctx->perm. False after TUNE_LOG errors with line numbers.
 * An unfinished last line is ignored. */
bool tune_log_read(struct ctx *ctx, const char *path, struct tune_log *log);

void tune_log_add(struct ctx *ctx, struct tune_log *log, const struct trial *trial);

/* Trial of a choice for the region, or NULL. */
const struct trial *tune_log_find(const struct tune_log *log, const struct tune_key *key,
                                  const char *region, const struct choice *choice, bool confirmed);

/* Opens a log for appending, creating it if necessary and cutting off an unfinished last line. NULL
 * after an error. */
struct tune_file;
struct tune_file *tune_file_open(struct ctx *ctx, const char *path);
bool tune_file_append(struct tune_file *file, const struct trial *trial); /* flushed */
bool tune_file_close(struct tune_file *file);                             /* NULL is fine */

/* Least gain of a winner; less may be noise. */
#define TUNE_LEAST_GAIN 0.02

/* Per region of a CPU, the confirmed choice with the lowest score that gains enough; the first of
 * equals. Choices with unknown knobs are skipped with a warning. */
struct choices tune_log_best(struct ctx *ctx, const struct tune_log *log, const char *target);

#endif
