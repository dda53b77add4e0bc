/* log.h - a tuning log: one JSON object on each line, a trial each (docs/guide/tune.md has the
 * members).
 *
 * Lines are only ever appended, and each is written whole, so that a log survives being killed,
 * and logs of several runs and machines are merged by concatenating them. */
#ifndef TUNE_LOG_H
#define TUNE_LOG_H

#include <stdbool.h>

#include "base/ctx.h"
#include "codegen_c/core/knob.h"
#include "codegen_c/machine/features.h"

/* What measurements depend on besides the region. Texts, never NULL. */
struct tune_key {
    const char *target;   /* row of machines.def that the C is written for */
    const char *compiler; /* what it says of its version */
    const char *flags;
    const char *cpu;    /* as the system calls it; "" = not known */
    const char *runner; /* what ran the program, without its folder; "" = nothing */
};

enum verdict {
    VERDICT_OK,
    VERDICT_WRONG, /* other outputs than the usual code's */
    VERDICT_FAILED /* it could not be built, or it ended */
};

/* Choices for a region, measured beside the usual ones. */
struct trial {
    struct tune_key key;
    const char *region; /* its signature */
    struct choice choice;
    const char *kernel;  /* that they made; "" = not known */
    const char *unknown; /* a knob of the line that we do not know, or NULL */
    bool confirmed;      /* measured again in a fresh process, for longer; only such are believed */
    enum verdict verdict;
    const char *reason;            /* of a failure, "" otherwise */
    double error;                  /* of the outputs, relative to the largest */
    double warm, usual_warm;       /* seconds of a run, medians */
    double cold, usual_cold;       /* likewise, with caches empty; 0 = not measured */
    struct features features;      /* of the variant, for bench/fit_costs.py; may be all 0 */
    double warm_ratio, cold_ratio; /* medians of the rounds' ratios; less is better; 0 likewise */
};

struct tune_log {
    struct trial *at;
    int n, capacity;
};

/* One number to compare trials by: the ratio, where warm counts twice as much as cold, because
 * within a network data is warm, and weights often are not. Less is better, 1 is the usual code. */
double trial_score(const struct trial *trial);

bool trial_same_key(const struct trial *trial, const struct tune_key *key);

/* Adds the lines of a file; texts live in ctx->perm. False after TUNE_LOG errors with line numbers.
 * A last line that was not finished is passed over. */
bool tune_log_read(struct ctx *ctx, const char *path, struct tune_log *log);

void tune_log_add(struct ctx *ctx, struct tune_log *log, const struct trial *trial);

/* The trial of these choices for the region, or NULL. */
const struct trial *tune_log_find(const struct tune_log *log, const struct tune_key *key,
                                  const char *region, const struct choice *choice, bool confirmed);

/* A file that trials are appended to; it is made if there is none. A last line that was not
 * finished is cut off. NULL after an error. */
struct tune_file;
struct tune_file *tune_file_open(struct ctx *ctx, const char *path);
bool tune_file_append(struct tune_file *file, const struct trial *trial); /* flushed */
bool tune_file_close(struct tune_file *file);                             /* NULL is fine */

/* A winner gains at least so much: less may be noise. */
#define TUNE_LEAST_GAIN 0.02

/* For each region of a target the confirmed choices with the least score, where they gain enough;
 * of equal ones the first. Choices with a knob that we do not know are left, with a warning. */
struct choices tune_log_best(struct ctx *ctx, const struct tune_log *log, const char *target);

#endif
