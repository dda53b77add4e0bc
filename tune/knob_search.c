/* knob_search.c - see search.h. */
#include "tune/knob_search.h"

#include <math.h>
#include <string.h>

enum { EXHAUSTIVE = 16, MOST_PASSES = 2 };

#define FAR_BEHIND 2.5 /* a kernel whose usual text is so much slower is left */

static bool step(struct tune_search *search, const struct choice *choice, double *score)
{
    const char *text = choice_text(&search->ctx->perm, choice);
    const double *known = map_get(&search->tried, text);

    if (known) {
        *score = *known;
        return true;
    }
    if (search->most_trials && search->n_trials >= search->most_trials)
        return false;
    search->n_trials++;
    if (!search->try_choice(search->user, choice, score))
        return false;
    map_set(&search->tried, text, arena_memdup(&search->ctx->perm, score, sizeof *score));
    if (*score < search->best_score) {
        search->best = *choice;
        search->best_score = *score;
    }
    return true;
}

static int combinations(const struct knob_range *knobs)
{
    int n = 1;

    for (int k = 0; k < KNOB_COUNT; k++)
        if (k != KNOB_KERNEL && knobs[k].n && n <= EXHAUSTIVE)
            n *= knobs[k].n;
    return n;
}

static int values(const struct knob_range *knobs)
{
    int n = 0;

    for (int k = 0; k < KNOB_COUNT; k++)
        if (k != KNOB_KERNEL && knobs[k].n)
            n += knobs[k].n - 1;
    return n;
}

/* Sets the knob, to nothing where the value is the usual one. */
static void turn(struct choice *choice, enum knob knob, const struct knob_range *range, int value)
{
    choice->value[knob] = range->values[value] == range->usual ? NULL : range->values[value];
}

/* All combinations but the usual one, which was tried. */
static bool try_all(struct tune_search *search, const struct knob_range *knobs,
                    const struct choice *start)
{
    const int n = combinations(knobs);

    for (int i = 0; i < n; i++) {
        struct choice choice = *start;
        int rest = i;
        double score;

        for (int k = 0; k < KNOB_COUNT; k++)
            if (k != KNOB_KERNEL && knobs[k].n) {
                turn(&choice, (enum knob)k, &knobs[k], rest % knobs[k].n);
                rest /= knobs[k].n;
            }
        if (memcmp(&choice, start, sizeof choice) != 0 && !step(search, &choice, &score))
            return false;
    }
    return true;
}

/* One pass over the knobs; *best and *best_score are of this kernel. */
static bool try_in_turn(struct tune_search *search, const struct knob_range *knobs,
                        struct choice *best, double *best_score)
{
    for (int k = 0; k < KNOB_COUNT; k++) {
        const struct choice start = *best;

        if (k == KNOB_KERNEL)
            continue;
        for (int v = 0; v < knobs[k].n; v++) {
            struct choice choice = start;
            double score;

            turn(&choice, (enum knob)k, &knobs[k], v);
            if (memcmp(&choice, &start, sizeof choice) == 0)
                continue;
            if (!step(search, &choice, &score))
                return false;
            if (score < *best_score) {
                *best = choice;
                *best_score = score;
            }
        }
    }
    return true;
}

static bool search_kernel(struct tune_search *search, const struct choice *kernel, double score)
{
    const struct knob_range *knobs = search->knobs(search->user, kernel);
    struct choice best = *kernel;

    if (!knobs)
        return true;
    if (combinations(knobs) <= EXHAUSTIVE)
        return try_all(search, knobs, kernel);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        const double before = score;

        if (!try_in_turn(search, knobs, &best, &score))
            return false;
        if (!(score < before))
            break;
    }
    return true;
}

int tune_search_size(struct tune_search *search)
{
    static const struct choice usual;
    const struct knob_range *all = search->knobs(search->user, &usual);
    int n = 0;

    for (int i = 0; all && i < (all[KNOB_KERNEL].n ? all[KNOB_KERNEL].n : 1); i++) {
        struct choice choice = usual;
        const struct knob_range *knobs;

        if (all[KNOB_KERNEL].n)
            turn(&choice, KNOB_KERNEL, &all[KNOB_KERNEL], i);
        n += choice.value[KNOB_KERNEL] ? 1 : 0;
        knobs = search->knobs(search->user, &choice);
        if (knobs)
            n += combinations(knobs) <= EXHAUSTIVE ? combinations(knobs) - 1
                                                   : MOST_PASSES * values(knobs);
    }
    return search->most_trials && n > search->most_trials ? search->most_trials : n;
}

void tune_search_run(struct tune_search *search)
{
    const struct choice usual = { .value = { NULL } };
    const struct knob_range *all = search->knobs(search->user, &usual);
    const int n = all && all[KNOB_KERNEL].n ? all[KNOB_KERNEL].n : 1;
    struct choice *kernels = arena_array(&search->ctx->perm, struct choice, n);
    double *scores = arena_array(&search->ctx->perm, double, n);

    search->tried = (struct map){ .arena = &search->ctx->perm };
    search->best = usual;
    search->best_score = 1;
    map_set(&search->tried, choice_text(&search->ctx->perm, &usual),
            arena_memdup(&search->ctx->perm, &search->best_score, sizeof search->best_score));
    for (int i = 0; all && i < n; i++) {
        scores[i] = 1;
        if (all[KNOB_KERNEL].n)
            turn(&kernels[i], KNOB_KERNEL, &all[KNOB_KERNEL], i);
        if (kernels[i].value[KNOB_KERNEL] && !step(search, &kernels[i], &scores[i]))
            return;
    }
    for (int i = 0; all && i < n; i++)
        if (scores[i] < FAR_BEHIND * search->best_score &&
            !search_kernel(search, &kernels[i], scores[i]))
            return;
}
