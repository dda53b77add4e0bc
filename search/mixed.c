/* mixed.c - TPU-MLIR's walk: from the input on, units whose own results are far from f32 go back to
 * f32 together with their successor, if the network's results gain by it.
 *
 * method   each unit's own result is compared once, in the start (a unit at a time computes on what
 *          all before it have lost); those that reach the target by themselves are passed over */
#include <string.h>

#include "base/str.h"
#include "search/strategies.h"

/* What a unit loses by itself: everything in front of it in f32, itself small. The trials are those
 * of topk. */
static bool unit_losses(struct search *search, const int *start, int own, struct score *scores)
{
    struct arena *arena = &search->ctx->perm;
    const int *f32 = arena_array(arena, int, search->units.n);
    struct proposal *candidates = arena_array(arena, struct proposal, search->units.n);
    int n = 0;

    for (int i = 0; i < search->units.n; i++)
        if (start[i])
            candidates[n++] = (struct proposal){ .what = arena_printf(
                                                     arena, "%s alone in %s",
                                                     str_safe(arena, search->units.at[i].name, 200),
                                                     search->settings[own].text),
                                                 .settings = search_with(search, f32, i, own) };
    search->n_expected += n;
    return search_judge_all(search, n, candidates, scores);
}

static int n_in_f32(const struct search *search, const int *start, const int *settings)
{
    int n = 0;

    for (int i = 0; i < search->units.n; i++)
        n += start[i] != 0 && settings[i] == 0;
    return n;
}

/* The unit and the one that reads it next, as far as max_float allows. */
static int *pair_in_f32(struct search *search, const int *settings, int unit, int room)
{
    int *copy = search_with(search, settings, unit, 0);

    if (room > 1 && search->units.at[unit].n_next > 0)
        copy[search->units.at[unit].next[0]] = 0;
    return copy;
}

static bool walk(struct search *search, const struct strategy_options *options, const int *start,
                 const struct score *alone, struct found *out)
{
    struct arena *arena = &search->ctx->perm;
    int at = 0;

    for (int i = 0; i < search->units.n && out->end.cos < options->target; i++) {
        const int room = options->max_float - n_in_f32(search, start, out->settings);
        const char *name = str_safe(arena, search->units.at[i].name, 200);
        struct proposal candidate;
        struct score score;

        if (!start[i])
            continue;
        if (alone[at++].cos >= 1 - (1 - options->target) / search->units.n ||
            out->settings[i] == 0 || room < 1)
            continue; /* even if all lost that much, the target would be reached */
        candidate = (struct proposal){ .settings = pair_in_f32(search, out->settings, i, room) };
        candidate.what = arena_printf(arena, "%s and its successor in f32", name);
        if (!search_judge_one(search, &candidate, &score))
            return false;
        if (!score_is_better(&score, &out->end))
            continue; /* what does not help goes back */
        found_stage(search, out, candidate.what, &score);
        found_offer(search, out, &candidate, &score);
    }
    out->n_float = n_in_f32(search, start, out->settings);
    return true;
}

bool search_mixed(struct search *search, const struct strategy_options *options, struct found *out)
{
    const int own = search_setting(search, &options->precision);
    const int *start = start_settings(search, &options->precision, own);
    struct score *alone = arena_array(&search->ctx->perm, struct score, search->units.n);

    search->n_expected = 1 + search->units.n;
    if (!found_begin(search, start, out))
        return false;
    if (out->start.cos >= options->target)
        return true;
    return unit_losses(search, start, own, alone) && walk(search, options, start, alone, out);
}
