/* greedy_pairs.c - units go back to f32 one after the other, alone or with a neighbour, whichever
 * gains most per unit in the network as it is by then: what two neighbours gain together is seen,
 * which no ranking of single units can see.
 *
 * method   a step tries all moves when it is the first, then those that gained most in the last
 *          full step; when none of these gains, all once more. What the network computes now is
 *          kept (reuse.h), so that a move costs what is behind it. What gains most now may leave no
 *          room for what gains more together: if the target is not reached, the units that lose
 *          most alone (topk) stay f32 instead where that is better, and the steps go on from there
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "search/strategies.h"

enum { SHORT_LIST = 16 };

struct move {
    int units[2], n;
    double gain; /* of loss, per unit; of the last trial */
};

struct greedy {
    struct search *search;
    const struct strategy_options *options;
    struct found *out;
    int *start;
    int n_moves, n_float;
    struct move *moves;
};

static void list_moves(struct greedy *g)
{
    const struct units *units = &g->search->units;
    size_t n = (size_t)units->n;

    for (int i = 0; i < units->n; i++)
        n += (size_t)units->at[i].n_next;
    g->moves = arena_array(&g->search->ctx->perm, struct move, n);
    for (int i = 0; i < units->n; i++) {
        if (!g->start[i])
            continue;
        g->moves[g->n_moves++] = (struct move){ { i }, 1, (double)INFINITY };
        for (int k = 0; k < units->at[i].n_next; k++)
            if (g->start[units->at[i].next[k]])
                g->moves[g->n_moves++] =
                    (struct move){ { i, units->at[i].next[k] }, 2, (double)INFINITY };
    }
}

static bool is_open(const struct greedy *g, const struct move *move)
{
    for (int i = 0; i < move->n; i++)
        if (g->out->settings[move->units[i]] == 0)
            return false;
    return g->n_float + move->n <= g->options->max_float;
}

static struct proposal after(const struct greedy *g, const struct move *move)
{
    struct arena *arena = &g->search->ctx->perm;
    struct str what = { .arena = arena };
    int *settings = search_with(g->search, g->out->settings, move->units[0], 0);

    for (int i = 0; i < move->n; i++) {
        settings[move->units[i]] = 0;
        str_printf(&what, "%s%s", i ? " and " : "",
                   str_safe(arena, g->search->units.at[move->units[i]].name, 200));
    }
    str_printf(&what, " in f32 beside %d others", g->n_float);
    return (struct proposal){ .what = str_text(&what), .settings = settings };
}

static int by_gain(const void *a, const void *b)
{
    const struct move *x = a, *y = b;

    if (x->gain != y->gain)
        return x->gain < y->gain ? 1 : -1;
    return x->units[0] != y->units[0] ? x->units[0] - y->units[0] : x->n - y->n;
}

/* Tries the first n moves that are open; the best of them, with its score. -1 = none gains. */
static bool try_moves(struct greedy *g, int n, int *best, struct proposal *candidate,
                      struct score *score)
{
    struct arena arena = { NULL };
    struct proposal *candidates = arena_array(&arena, struct proposal, n);
    struct score *scores = arena_array(&arena, struct score, n);
    int *of = arena_array(&arena, int, n), n_tried = 0;
    bool ok;

    for (int i = 0; i < g->n_moves && n_tried < n; i++)
        if (is_open(g, &g->moves[i])) {
            candidates[n_tried] = after(g, &g->moves[i]);
            of[n_tried++] = i;
        }
    g->search->n_expected += n_tried;
    ok = search_judge_all(g->search, n_tried, candidates, scores);
    *best = -1;
    for (int i = 0; i < n_tried && ok; i++) {
        struct move *move = &g->moves[of[i]];

        move->gain = (g->out->end.loss - scores[i].loss) / move->n;
        if (score_is_better(&scores[i], &g->out->end) && move->gain > 0 &&
            (*best < 0 || move->gain > g->moves[*best].gain)) {
            *best = of[i];
            *candidate = candidates[i];
            *score = scores[i];
        }
    }
    arena_release(&arena);
    return ok;
}

static bool make_step(struct greedy *g, bool first, bool *any)
{
    struct proposal candidate;
    struct score score;
    int best;

    if (!try_moves(g, first ? g->n_moves : SHORT_LIST, &best, &candidate, &score))
        return false;
    if (best < 0 && !first && !try_moves(g, g->n_moves, &best, &candidate, &score))
        return false;
    *any = best >= 0;
    if (!*any)
        return true;
    g->n_float += g->moves[best].n;
    found_stage(g->search, g->out, candidate.what, &score);
    found_offer(g->search, g->out, &candidate, &score);
    g->out->n_float = g->n_float;
    qsort(g->moves, (size_t)g->n_moves, sizeof *g->moves, by_gain);
    return search_rebase(g->search, &candidate);
}

static bool make_steps(struct greedy *g)
{
    bool any = true;

    for (bool first = true;
         any && g->out->end.cos < g->options->target && g->n_float < g->options->max_float;
         first = false)
        if (!make_step(g, first, &any))
            return false;
    return true;
}

/* As few of the units that lose most alone as reach the target, else as many as may be. */
static bool try_worst(struct greedy *g)
{
    struct search *search = g->search;
    struct arena *arena = &search->ctx->perm;
    const int own = search_setting(search, &g->options->precision);
    int *settings = g->start;

    if (!rank_units(search, g->start, 1, &own, g->out, NULL))
        return false;
    search->n_expected += g->options->max_float;
    for (int n = 1; n <= g->options->max_float && n <= g->out->n_ranked; n++) {
        struct proposal candidate = { .what = arena_printf(arena, "the worst %d in f32", n) };
        struct score score;

        candidate.settings = settings =
            search_with(search, settings, g->out->ranking[n - 1].unit, 0);
        if (!search_judge_one(search, &candidate, &score))
            return false;
        if (score_is_better(&score, &g->out->end)) {
            found_stage(search, g->out, candidate.what, &score);
            found_offer(search, g->out, &candidate, &score);
            g->out->n_float = g->n_float = n;
        }
        if (score.cos >= g->options->target)
            break;
    }
    return true;
}

static bool improve_by_worst(struct greedy *g)
{
    const int *settings = g->out->settings;

    if (!try_worst(g))
        return false;
    if (g->out->settings == settings)
        return true;
    return search_rebase(g->search, &(struct proposal){ .settings = g->out->settings }) &&
           make_steps(g);
}

bool search_greedy_pairs(struct search *search, const struct strategy_options *options,
                         struct found *out)
{
    struct greedy g = { .search = search, .options = options, .out = out };
    const int own = search_setting(search, &options->precision);
    const struct proposal begin = { .settings = g.start =
                                        start_settings(search, &options->precision, own) };

    search->n_expected = 1;
    if (!found_begin(search, g.start, out))
        return false;
    if (out->start.cos >= options->target)
        return true;
    if (!search_rebase(search, &begin))
        return false;
    list_moves(&g);
    return make_steps(&g) && (out->end.cos >= options->target || improve_by_worst(&g));
}
