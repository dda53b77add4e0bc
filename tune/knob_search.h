/* knob_search.h - which choices to try for a region, in which order. Knows nothing of how they are
 * tried.
 *
 * method   each kernel as it is usually written; then the knobs of those kernels that are not far
 *          behind: all combinations where they are few, else one knob after the other, each with
 * the best values of the others so far, as long as something was gained */
#ifndef TUNE_KNOB_SEARCH_H
#define TUNE_KNOB_SEARCH_H

#include <stdbool.h>

#include "codegen_c/core/knob.h"

struct tune_search {
    struct ctx *ctx;
    void *user;

    /* The knobs of the text that these choices make, [KNOB_COUNT]; NULL after an error. */
    const struct knob_range *(*knobs)(void *user, const struct choice *choice);

    /* Tries them: *score less is better, 1 is the usual code; INFINITY where they are of no use.
     * False ends the search: there is no time left, or an error. */
    bool (*try_choice)(void *user, const struct choice *choice, double *score);

    struct map tried;          /* choice_text -> double *: its score */
    int n_trials, most_trials; /* done, and allowed; 0 = as many as it takes */
    struct choice best;
    double best_score;
};

/* How many trials it may come to, at most. */
int tune_search_size(struct tune_search *search);

/* Leaves the best in search->best; the usual code (no choice, score 1) where nothing is better. */
void tune_search_run(struct tune_search *search);

#endif
