/* knob_search.h - order in which choices for a region are tried, independent of how they are tried.
 *
 * method   the default code of each kernel; then the knobs of kernels that are not far behind: all
 *          combinations if they are few, else one knob after another, each with the best values of
 *          the others so far, as long as there is a gain */
#ifndef TUNE_KNOB_SEARCH_H
#define TUNE_KNOB_SEARCH_H

#include <stdbool.h>

#include "codegen_c/core/knob.h"

struct tune_search {
    struct ctx *ctx;
    void *user;

    /* Knobs of the code of a choice, [KNOB_COUNT]; NULL after an error. */
    const struct knob_range *(*knobs)(void *user, const struct choice *choice);

    /* Tries a choice: *score, lower is better, default 1, INFINITY if unusable. False ends the
     * search: time is up, or an error. */
    bool (*try_choice)(void *user, const struct choice *choice, double *score);

    struct map tried;          /* choice_text -> double *: score */
    int n_trials, most_trials; /* done; allowed (0 = unlimited) */
    struct choice best;
    double best_score;
};

/* Upper bound of the number of trials. */
int tune_search_size(struct tune_search *search);

/* Stores the best choice in search->best; the default (no choice, score 1) if nothing is better. */
void tune_search_run(struct tune_search *search);

#endif
