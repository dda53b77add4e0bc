/* trials.h - log of judged candidates: an append-only file of JSON lines.
 *
 * The first line identifies the subject (model, data, calibration, compared results); a log of
 * another subject is refused. Each trial is a line, written by one system call and synced at once:
 * a killed search loses only running trials. An unfinished last line is cut off.
 *
 * Processes may share a log, also across machines if the file system has locks (mpirun, see
 * docs/guide/search.md): a trial is claimed by a lock on a byte past the end of the file, which the
 * system releases when the process dies. */
#ifndef SEARCH_TRIALS_H
#define SEARCH_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"
#include "runtime/engine/mark.h"

struct score {
    double loss; /* by the search's measure; lower is better */
    double cos;  /* mean cosine with f32, over samples and results */
    double snr;  /* noise power / signal power, over all */
    double mse;
    double task;    /* task metric; NAN without one */
    double seconds; /* duration of the trial; the only value that differs from run to run */
};

struct judged {
    struct mark key;
    const char *what;
    struct score score;
    int line; /* line in the file, from 2; 0 = not in the file */
};

struct trials; /* opaque */

/* Opens a log for the subject `of`. path NULL: nothing is written. NULL after an error. */
struct trials *trials_open(struct ctx *ctx, const char *path, struct mark of);

/* Known result of a candidate; NULL = none. Valid until trials_close. */
const struct judged *trials_find(const struct trials *trials, struct mark key);

/* Claims a candidate for this process. False if another process has claimed or finished it: see
 * trials_refresh. */
bool trials_claim(struct trials *trials, struct mark key);

/* Writes the result of a claimed trial and releases the claim. False after an error. */
bool trials_add(struct trials *trials, struct mark key, const char *what,
                const struct score *score);
void trials_give_back(struct trials *trials, struct mark key); /* releases a claim without a
                                                                  result */

/* Reads trials added by other processes. False after an error. */
bool trials_refresh(struct trials *trials);

/* Trials in file order. */
int trials_count(const struct trials *trials);
const struct judged *trials_at(const struct trials *trials, int i);

void trials_close(struct trials *trials); /* NULL is fine */

#endif
