/* budget.c - of several precisions for each unit, those that lose least for the bytes that there
 * are.
 *
 * method   1. each unit alone in each of the choices: what that loses, and what it takes
 *          2. from all units in what loses least by itself, one after the other the change that
 *             loses least per byte that it saves (the lower convex hull of each unit, so that of
 * two changes the better one comes first): a chain of networks, smaller and smaller
 *          3. networks of the chain are judged, and priced by the caller: at even distances for the
 *             picture, then by bisection where the target or the budget is crossed */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "search/strategies.h"

enum { PICTURE = 12 }; /* networks at even distances */

struct change {
    int unit, setting;
    double bytes, loss; /* saved, and lost */
};

struct point {
    struct proposal proposal;
    struct score score;
    struct price price;
    bool known;
};

struct budget {
    struct search *search;
    const struct strategy_options *options;
    struct found *out;
    int *settings;  /* [n_choices] indices */
    double *losses; /* [units][n_choices] */
    int n_points;   /* networks of the chain */
    struct point *points;
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

static double bytes_of(const struct budget *b, int unit, int setting)
{
    return unit_bytes(&b->search->units.at[unit], &b->search->settings[setting].precision);
}

/* The choice that loses least; of equal ones the smaller. f32 loses nothing. */
static int best_choice(const struct budget *b, int unit)
{
    int best = 0;
    double least = 0, bytes = bytes_of(b, unit, 0);

    for (int k = 0; k < b->options->n_choices; k++) {
        const double loss = fmax(b->losses[unit * b->options->n_choices + k], 0);
        const double now = bytes_of(b, unit, b->settings[k]);

        if (loss < least || (loss == least && now < bytes)) {
            least = loss;
            bytes = now;
            best = b->settings[k];
        }
    }
    return best;
}

static double loss_of(const struct budget *b, int unit, int setting)
{
    for (int k = 0; k < b->options->n_choices; k++)
        if (b->settings[k] == setting)
            return fmax(b->losses[unit * b->options->n_choices + k], 0);
    return 0;
}

/* From where the unit is, the change to a smaller one that loses least per byte. */
static bool next_change(const struct budget *b, int unit, int now, struct change *out)
{
    bool any = false;

    for (int k = 0; k < b->options->n_choices; k++) {
        const struct change change = { unit, b->settings[k],
                                       bytes_of(b, unit, now) - bytes_of(b, unit, b->settings[k]),
                                       loss_of(b, unit, b->settings[k]) - loss_of(b, unit, now) };

        if (change.bytes > 0 && (!any || change.loss * out->bytes < out->loss * change.bytes)) {
            *out = change;
            any = true;
        }
    }
    return any;
}

static void make_chain(struct budget *b, const int *start)
{
    struct search *search = b->search;
    struct arena *arena = &search->ctx->perm;
    const int n_units = search->units.n;
    int *now = arena_array(arena, int, n_units);
    const size_t most = (size_t)n_units * (size_t)(b->options->n_choices + 1) + 1;

    b->points = arena_array(arena, struct point, most);
    for (int i = 0; i < n_units; i++)
        now[i] = start[i] ? best_choice(b, i) : 0;
    for (;;) {
        struct change best = { .unit = -1 }, change = { .unit = -1 };
        bool any = false;

        b->points[b->n_points].proposal =
            (struct proposal){ .what = arena_printf(arena, "network %d of the chain", b->n_points),
                               .settings =
                                   arena_memdup(arena, now, (size_t)n_units * sizeof *now) };
        b->n_points++;
        for (int i = 0; i < n_units; i++)
            if (start[i] && next_change(b, i, now[i], &change) &&
                (!any || change.loss * best.bytes < best.loss * change.bytes)) {
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
        return options->price(options->price_user, b->search, &point->proposal, &point->price);
    for (int i = 0; i < b->search->units.n; i++)
        point->price.flash += (size_t)bytes_of(b, i, point->proposal.settings[i]);
    return true;
}

static void tell(struct budget *b, const struct point *point)
{
    struct arena *arena = &b->search->ctx->perm;

    found_stage(b->search, b->out,
                arena_printf(arena, "%s: flash %zu, RAM %zu", point->proposal.what,
                             point->price.flash, point->price.ram),
                &point->score);
}

static bool look_at(struct budget *b, int i)
{
    struct point *point = &b->points[i];

    if (point->known)
        return true;
    b->search->n_expected++;
    if (!search_judge_one(b->search, &point->proposal, &point->score) || !price_of(b, point))
        return false;
    point->known = true;
    tell(b, point);
    return true;
}

static bool fits(const struct strategy_options *options, const struct price *price)
{
    return (!options->flash || price->flash <= options->flash) &&
           (!options->ram || price->ram <= options->ram);
}

static bool has_limits(const struct strategy_options *options)
{
    return options->flash || options->ram;
}

/* Whether the network is small enough, or without a budget: still good enough to go on. */
static bool is_beyond(const struct budget *b, int i)
{
    const struct point *point = &b->points[i];

    return has_limits(b->options) ? fits(b->options, &point->price)
                                  : point->score.cos < b->options->target;
}

/* The networks on both sides of where the budget is met (the target is missed): nearly monotone. */
static bool bisect(struct budget *b)
{
    int below = 0, above = b->n_points - 1;

    if (!look_at(b, below) || !look_at(b, above))
        return false;
    while (above - below > 1) {
        const int middle = below + (above - below) / 2;

        if (!look_at(b, middle))
            return false;
        if (is_beyond(b, middle))
            above = middle;
        else
            below = middle;
    }
    return true;
}

/* Without a budget the smallest that reaches the target, with one the best of those that fit; the
 * start is one of them. */
static bool is_preferred(const struct budget *b, const struct point *point,
                         const struct point *than)
{
    const bool small = fits(b->options, &point->price), other = fits(b->options, &than->price);
    const bool good = point->score.cos >= b->options->target;
    const bool other_good = than->score.cos >= b->options->target;

    if (small != other)
        return small;
    if (!small)
        return point->price.flash < than->price.flash;
    if (has_limits(b->options) || good != other_good || !good)
        return score_is_better(&point->score, &than->score);
    return point->price.flash < than->price.flash || (point->price.flash == than->price.flash &&
                                                      score_is_better(&point->score, &than->score));
}

static bool choose(struct budget *b, struct point *start)
{
    struct found *out = b->out;
    const struct point *best = start;

    if (!price_of(b, start))
        return false;
    for (int i = 0; i < b->n_points; i++)
        if (b->points[i].known && is_preferred(b, &b->points[i], best))
            best = &b->points[i];
    out->settings = best->proposal.settings;
    out->end = best->score;
    out->price = best->price;
    out->is_start = best == start;
    out->n_float = 0;
    for (int i = 0; i < b->search->units.n; i++)
        out->n_float += out->settings[i] == 0;
    return true;
}

bool search_budget(struct search *search, const struct strategy_options *options, struct found *out)
{
    struct budget b = { .search = search, .options = options, .out = out };
    const int own = search_setting(search, &options->precision);
    const int *start = start_settings(search, &options->precision, own);
    struct point begin = { .proposal = { .what = "start", .settings = start } };

    b.settings = arena_array(&search->ctx->perm, int, options->n_choices);
    search->n_expected = 1 + PICTURE;
    if (!found_begin(search, start, out) || !judge_choices(&b, start))
        return false;
    begin.score = out->start;
    make_chain(&b, start);
    for (int i = 0; i < PICTURE; i++)
        if (!look_at(&b, (int)((int64_t)i * (b.n_points - 1) / (PICTURE - 1))))
            return false;
    return bisect(&b) && choose(&b, &begin);
}
