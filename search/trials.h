/* trials.h - what candidates were judged to be: a file of JSON lines that is only appended to.
 *
 * The first line says what the trials are of (model, data, calibration, what is compared): logs of
 * something else are refused. Each trial is a line, written with one system call and synced before
 * anything else happens, so that a killed search loses the trials that were running and no other;
 * what a kill left of a line is cut off.
 *
 * Several processes may share a log, on one machine or, where the file system has locks, on many
 * (mpirun, see docs/guide/search.md): each trial is claimed by a lock on a byte behind the end of
 * the file, which the system gives back when a process dies, whatever it dies of. */
#ifndef SEARCH_TRIALS_H
#define SEARCH_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "runtime/engine/mark.h"

struct score {
    double loss; /* by the search's measure; less is better */
    double cos;  /* mean cosine with f32, over samples and results */
    double snr;  /* noise power / signal power, over all */
    double mse;
    double task;    /* of the judge; NAN without one */
    double seconds; /* that the trial took; the one number that differs from run to run */
};

struct judged {
    struct mark key;
    const char *what;
    struct score score;
    int line; /* in the file, from 2 on; 0 = not in the file */
};

struct trials; /* opaque */

/* of: what the trials are of. path NULL: nothing is written. NULL after an error. */
struct trials *trials_open(struct ctx *ctx, const char *path, struct mark of);

/* What is known of a candidate; NULL = nothing. Valid until trials_close. */
const struct judged *trials_find(const struct trials *trials, struct mark key);

/* Takes a candidate for this process. False when another one has it, or has finished it meanwhile:
 * trials_refresh tells. */
bool trials_claim(struct trials *trials, struct mark key);

/* Writes a trial that was claimed, and gives it back. False after an error. */
bool trials_add(struct trials *trials, struct mark key, const char *what,
                const struct score *score);
void trials_give_back(struct trials *trials, struct mark key); /* without a result */

/* Reads what other processes have added. False after an error. */
bool trials_refresh(struct trials *trials);

/* In the order of the file. */
int trials_count(const struct trials *trials);
const struct judged *trials_at(const struct trials *trials, int i);

void trials_close(struct trials *trials); /* NULL is fine */

#endif
