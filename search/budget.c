/* budget.c - of several precisions for each unit, those that lose least for the bytes and the time
 * that there are.
 *
 * method   1. each unit alone in each of the choices: what that loses, and what it takes
 *          2. from all units in what loses least by itself, one after the other the change that
 *             loses least per byte that it saves (the lower convex hull of each unit, so that of
 *             two changes the better one comes first): a chain of networks, smaller and smaller.
 *             Where times are known there is another one, by time: faster and faster
 *          3. networks of the chains are judged, and priced by the caller: at even distances for
 *             the picture, then by bisection where the target or the budget is crossed */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "search/strategies.h"

enum { PICTURE = 12 }; /* networks at even distances */

enum cost { BYTES, SECONDS, N_COSTS };

struct change {
    int unit, setting;
    double cost, loss; /* saved, and lost */
};

struct point {
    struct proposal proposal;
    struct score score;
    struct price price;
    bool known;
};

/* Networks from the best to the one that takes least. */
struct chain {
    enum cost cost;
    int n;
    struct point *points;
};

struct budget {
    struct search *search;
    const struct strategy_options *options;
    struct found *out;
    int *settings;   /* [n_choices] indices */
    double *losses;  /* [units][n_choices] */
    double *seconds; /* [1 + n_choices][units], in f32 and in each choice; NULL = not known */
    double latency;  /* the limit, 0 = none */
    int n_chains;
    struct chain chains[N_COSTS];
};

static bool judge_choices(struct budget *b, const int *start)
{
    struct search *search = b->search;
    struct found ignored = { .settings = start };

    b->losses = arena_array(&search->ctx->perm, double, search->units.n * b->options->n_choices);
    for (int i = 0; i < b->options->n_choices; i++)
        b->settings[i] = search_setting(search, &b->options->choices[i]);
    return rank_units(search, start, b->options->n_choices, b->settings, &ignored, b->losses);
}

/* --- the chain -------------------------------------------------------------------------------- */

static int number_of_setting(const struct budget *b, int setting)
{
    for (int k = 0; k < b->options->n_choices && setting; k++)
        if (b->settings[k] == setting)
            return 1 + k;
    return 0;
}

static double cost_of(const struct budget *b, enum cost cost, int unit, int setting)
{
    if (cost == SECONDS)
        return b->seconds[number_of_setting(b, setting) * b->search->units.n + unit];
    return unit_bytes(&b->search->units.at[unit], &b->search->settings[setting].precision);
}

/* The choice that loses least; of equal ones what takes less. f32 loses nothing. */
static int best_choice(const struct budget *b, enum cost cost, int unit)
{
    int best = 0;
    double least = 0, taken = cost_of(b, cost, unit, 0);

    for (int k = 0; k < b->options->n_choices; k++) {
        const double loss = fmax(b->losses[unit * b->options->n_choices + k], 0);
        const double now = cost_of(b, cost, unit, b->settings[k]);

        if (loss < least || (loss == least && now < taken)) {
            least = loss;
            taken = now;
            best = b->settings[k];
        }
    }
    return best;
}

static double loss_of(const struct budget *b, int unit, int setting)
{
    const int k = number_of_setting(b, setting);

    return k ? fmax(b->losses[unit * b->options->n_choices + k - 1], 0) : 0;
}

/* From where the unit is, the change to what takes less that loses least for it. */
static bool next_change(const struct budget *b, enum cost cost, int unit, int now,
                        struct change *out)
{
    bool any = false;

    for (int k = 0; k < b->options->n_choices; k++) {
        const struct change change = { unit, b->settings[k],
                                       cost_of(b, cost, unit, now) -
                                           cost_of(b, cost, unit, b->settings[k]),
                                       loss_of(b, unit, b->settings[k]) - loss_of(b, unit, now) };

        if (change.cost > 0 && (!any || change.loss * out->cost < out->loss * change.cost)) {
            *out = change;
            any = true;
        }
    }
    return any;
}

static void make_chain(struct budget *b, enum cost cost, const int *start)
{
    struct search *search = b->search;
    struct arena *arena = &search->ctx->perm;
    const int n_units = search->units.n;
    int *now = arena_array(arena, int, n_units);
    const size_t most = (size_t)n_units * (size_t)(b->options->n_choices + 1) + 1;
    struct chain *chain = &b->chains[b->n_chains++];

    *chain = (struct chain){ .cost = cost, .points = arena_array(arena, struct point, most) };
    for (int i = 0; i < n_units; i++)
        now[i] = start[i] ? best_choice(b, cost, i) : 0;
    for (;;) {
        struct change best = { .unit = -1 }, change = { .unit = -1 };
        bool any = false;

        chain->points[chain->n].proposal =
            (struct proposal){ .what = arena_printf(arena, "network %d by %s", chain->n,
                                                    cost == SECONDS ? "time" : "bytes"),
                               .settings =
                                   arena_memdup(arena, now, (size_t)n_units * sizeof *now) };
        chain->n++;
        for (int i = 0; i < n_units; i++)
            if (start[i] && next_change(b, cost, i, now[i], &change) &&
                (!any || change.loss * best.cost < best.loss * change.cost)) {
                best = change;
                any = true;
            }
        if (!any)
            return;
        now[best.unit] = best.setting;
    }
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool price_of(struct budget *b, struct point *point)
{
    const struct strategy_options *options = b->options;

    if (options->price)
        return options->price(options->price_user, b->search, &point->proposal, &point->price,
                              NULL);
    for (int i = 0; i < b->search->units.n; i++)
        point->price.flash += (size_t)cost_of(b, BYTES, i, point->proposal.settings[i]);
    return true;
}

/* What each unit takes when all are alike, in f32 and in each choice. */
static bool find_seconds(struct budget *b, const int *start)
{
    const int n_units = b->search->units.n;
    struct arena *arena = &b->search->ctx->perm;

    if (!b->options->tells_latency)
        return true;
    b->seconds = arena_array(arena, double, n_units *(1 + b->options->n_choices));
    for (int k = 0; k <= b->options->n_choices; k++) {
        int *settings = arena_array(arena, int, n_units);
        const struct proposal alike = { .what = "all alike", .settings = settings };
        struct price price;

        for (int i = 0; i < n_units && k; i++)
            settings[i] = start[i] ? b->settings[k - 1] : 0;
        if (!b->options->price(b->options->price_user, b->search, &alike, &price,
                               b->seconds + k * n_units))
            return false;
        if (k == 0)
            b->latency = b->options->latency > 0 ? b->options->latency
                                                 : b->options->latency_share * price.latency;
    }
    return true;
}

static void tell(struct budget *b, const struct point *point)
{
    struct arena *arena = &b->search->ctx->perm;
    const struct price *price = &point->price;
    const char *time = b->seconds ? arena_printf(arena, ", %.3g ms", 1e3 * price->latency) : "";

    found_stage(b->search, b->out,
                arena_printf(arena, "%s: flash %zu, RAM %zu%s", point->proposal.what, price->flash,
                             price->ram, time),
                &point->score);
}

static bool look_at(struct budget *b, struct point *point)
{
    if (point->known)
        return true;
    b->search->n_expected++;
    if (!search_judge_one(b->search, &point->proposal, &point->score) || !price_of(b, point))
        return false;
    point->known = true;
    tell(b, point);
    return true;
}

/* How many times the budget is taken, of what it is exceeded most by; 0 without a budget. */
static double excess_of(const struct budget *b, const struct price *price)
{
    const struct strategy_options *options = b->options;
    double most = 0;

    if (options->flash)
        most = fmax(most, (double)price->flash / (double)options->flash);
    if (options->ram)
        most = fmax(most, (double)price->ram / (double)options->ram);
    if (b->latency > 0)
        most = fmax(most, price->latency / b->latency);
    return most;
}

static bool has_limits(const struct budget *b)
{
    return b->options->flash || b->options->ram || b->latency > 0;
}

/* Whether the network is small enough, or without a budget: still good enough to go on. */
static bool is_beyond(const struct budget *b, const struct point *point)
{
    return has_limits(b) ? excess_of(b, &point->price) <= 1 : point->score.cos < b->options->target;
}

/* The networks on both sides of where the budget is met (the target is missed): nearly monotone. */
static bool bisect(struct budget *b, const struct chain *chain)
{
    int below = 0, above = chain->n - 1;

    if (!look_at(b, &chain->points[below]) || !look_at(b, &chain->points[above]))
        return false;
    while (above - below > 1) {
        const int middle = below + (above - below) / 2;

        if (!look_at(b, &chain->points[middle]))
            return false;
        if (is_beyond(b, &chain->points[middle]))
            above = middle;
        else
            below = middle;
    }
    return true;
}

static bool look_along(struct budget *b, const struct chain *chain)
{
    for (int i = 0; i < PICTURE; i++)
        if (!look_at(b, &chain->points[(int64_t)i * (chain->n - 1) / (PICTURE - 1)]))
            return false;
    return bisect(b, chain);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* Without a budget the smallest that reaches the target, with one the best of those that fit; the
 * start is one of them. */
static bool is_preferred(const struct budget *b, const struct point *point,
                         const struct point *than)
{
    const double excess = excess_of(b, &point->price), other_excess = excess_of(b, &than->price);
    const bool good = point->score.cos >= b->options->target;
    const bool other_good = than->score.cos >= b->options->target;

    if ((excess <= 1) != (other_excess <= 1))
        return excess <= 1;
    if (excess > 1)
        return excess < other_excess;
    if (has_limits(b) || good != other_good || !good)
        return score_is_better(&point->score, &than->score);
    return point->price.flash < than->price.flash || (point->price.flash == than->price.flash &&
                                                      score_is_better(&point->score, &than->score));
}

static void choose(struct budget *b, const struct point *start)
{
    struct found *out = b->out;
    const struct point *best = start;

    for (int c = 0; c < b->n_chains; c++)
        for (int i = 0; i < b->chains[c].n; i++)
            if (b->chains[c].points[i].known && is_preferred(b, &b->chains[c].points[i], best))
                best = &b->chains[c].points[i];
    out->settings = best->proposal.settings;
    out->end = best->score;
    out->price = best->price;
    out->is_start = best == start;
    out->n_float = 0;
    for (int i = 0; i < b->search->units.n; i++)
        out->n_float += out->settings[i] == 0;
}

/* Nothing in which `than` is better. */
static bool is_as_good(const struct priced *a, const struct priced *than)
{
    return a->price.flash <= than->price.flash && a->price.ram <= than->price.ram &&
           a->price.latency <= than->price.latency && a->score.loss <= than->score.loss;
}

static int by_flash(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;

    if (x->price.flash != y->price.flash)
        return x->price.flash < y->price.flash ? -1 : 1;
    if (x->score.loss != y->score.loss)
        return x->score.loss < y->score.loss ? -1 : 1;
    return strcmp(x->what, y->what);
}

/* Pareto's front of all networks that were looked at; of equal ones the first. */
static void make_front(struct budget *b, const struct point *start)
{
    const size_t most = 1 + (size_t)b->chains[0].n + (size_t)b->chains[1].n;
    struct priced *all = arena_array(&b->search->ctx->perm, struct priced, most);
    int n = 0, n_front = 0;

    all[n++] = (struct priced){ start->proposal.what, start->price, start->score };
    for (int c = 0; c < b->n_chains; c++)
        for (int i = 0; i < b->chains[c].n; i++) {
            const struct point *point = &b->chains[c].points[i];

            if (point->known)
                all[n++] = (struct priced){ point->proposal.what, point->price, point->score };
        }
    qsort(all, (size_t)n, sizeof *all, by_flash);
    for (int i = 0; i < n; i++) {
        bool is_best = true;

        for (int k = 0; k < n && is_best; k++)
            is_best =
                k == i || !is_as_good(&all[k], &all[i]) || (is_as_good(&all[i], &all[k]) && i < k);
        if (is_best)
            all[n_front++] = all[i];
    }
    b->out->n_front = n_front;
    b->out->front = all;
}

bool search_budget(struct search *search, const struct strategy_options *options, struct found *out)
{
    struct budget b = { .search = search, .options = options, .out = out };
    const int own = search_setting(search, &options->precision);
    const int *start = start_settings(search, &options->precision, own);
    struct point begin = { .proposal = { .what = "start", .settings = start } };

    b.settings = arena_array(&search->ctx->perm, int, options->n_choices);
    search->n_expected = 1 + PICTURE;
    if (!found_begin(search, start, out) || !judge_choices(&b, start) || !find_seconds(&b, start) ||
        !price_of(&b, &begin))
        return false;
    begin.score = out->start;
    make_chain(&b, BYTES, start);
    if (b.seconds)
        make_chain(&b, SECONDS, start);
    for (int c = 0; c < b.n_chains; c++)
        if (!look_along(&b, &b.chains[c]))
            return false;
    choose(&b, &begin);
    make_front(&b, &begin);
    return true;
}
