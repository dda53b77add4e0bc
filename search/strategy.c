/* strategy.c - what strategies share: the start, trials of single units, the best so far. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/quantize.h"
#include "search/strategies.h"

bool unit_takes(const struct unit *unit, const struct precision *precision)
{
    return (precision->has_weights && unit->n_weights > 0) ||
           (precision->has_data && unit->n_reads > 0);
}

double unit_bytes(const struct unit *unit, const struct precision *precision)
{
    const int bits = precision->has_weights ? number_format_bits(&precision->weights) : 32;

    return (double)unit->n_weights * bits / 8 + (bits <= 8 ? (double)unit->n_weights / 16 : 0);
}

int *start_settings(struct search *search, const struct precision *precision, int setting)
{
    int *settings = arena_array(&search->ctx->perm, int, search->units.n);

    for (int i = 0; i < search->units.n; i++)
        settings[i] = unit_takes(&search->units.at[i], precision) ? setting : 0;
    return settings;
}

/* --- what was found --------------------------------------------------------------------------- */

void found_stage(struct search *search, struct found *out, const char *what,
                 const struct score *score)
{
    struct stage *more = arena_array(&search->ctx->perm, struct stage, out->n_stages + 1);

    if (out->n_stages)
        memcpy(more, out->stages, (size_t)out->n_stages * sizeof *more);
    more[out->n_stages++] = (struct stage){ what, *score };
    out->stages = more;
}

bool found_begin(struct search *search, const int *settings, struct found *out)
{
    struct proposal start = { .settings = settings };
    int setting = 0; /* of all that are not f32 */

    for (int i = 0; i < search->units.n && setting == 0; i++)
        setting = settings[i];
    start.what = arena_printf(&search->ctx->perm, "all in %s", search->settings[setting].text);
    *out = (struct found){ .settings = settings, .is_start = true };
    if (!search_judge_one(search, &start, &out->start))
        return false;
    out->end = out->start;
    return true;
}

void found_offer(const struct search *search, struct found *out, const struct proposal *candidate,
                 const struct score *score)
{
    if (!score_is_better(score, &out->end))
        return;
    out->end = *score;
    out->settings = candidate->settings;
    out->table = candidate->table;
    out->is_start = false;
    out->n_float = 0;
    for (int i = 0; i < search->units.n; i++)
        out->n_float += candidate->settings[i] == 0;
}

/* --- units alone ------------------------------------------------------------------------------ */

/* What loses most first; of equals the one nearer to the input. */
static int by_loss(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score.loss != y->score.loss)
        return x->score.loss < y->score.loss ? 1 : -1;
    return x->unit - y->unit;
}

bool rank_units(struct search *search, const int *start, int n, const int *settings,
                struct found *out, double *losses)
{
    struct arena *arena = &search->ctx->perm;
    const int n_units = search->units.n;
    const int *f32 = arena_array(arena, int, n_units);
    struct proposal *candidates = arena_array(arena, struct proposal, n_units * n);
    struct score *scores = arena_array(arena, struct score, n_units * n);
    struct ranked *ranking = arena_array(arena, struct ranked, n_units);
    int n_candidates = 0;

    for (int i = 0; i < n_units; i++)
        for (int k = 0; k < n && start[i] != 0; k++)
            candidates[n_candidates++] =
                (struct proposal){ .what =
                                       arena_printf(arena, "%s alone in %s",
                                                    str_safe(arena, search->units.at[i].name, 200),
                                                    search->settings[settings[k]].text),
                                   .settings = search_with(search, f32, i, settings[k]) };
    search->n_expected += n_candidates;
    if (!search_judge_all(search, n_candidates, candidates, scores))
        return false;
    n_candidates = 0;
    for (int i = 0; i < n_units; i++) {
        struct ranked *best = &ranking[out->n_ranked];

        for (int k = 0; k < n && start[i] != 0; k++) {
            const struct score *score = &scores[n_candidates++];

            if (losses)
                losses[i * n + k] = score->loss;
            if (k == 0 || score_is_better(score, &best->score))
                *best = (struct ranked){ i, *score, settings[k] };
        }
        out->n_ranked += start[i] != 0;
    }
    qsort(ranking, (size_t)out->n_ranked, sizeof *ranking, by_loss);
    out->ranking = ranking;
    return true;
}
