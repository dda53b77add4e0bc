/* sensitive.c - TPU-MLIR's search for sensitive layers, and PopRT's top-K.
 *
 * method   1. end if the start reaches the target
 *          2. each unit alone in the precision, by each rule; loss against f32
 *          3. each tensor gets the rule with the least loss, summed over the units that read it:
 *             the new table
 *          4. of the units that lose most, as few stay f32 as reach the target, at most max_float;
 *             with the old thresholds and with the new ones */
#include <string.h>

#include "base/str.h"
#include "search/strategies.h"

struct sensitive {
    struct search *search;
    const struct strategy_options *options;
    struct found *out;
    int own, by_table;     /* settings: the precision by its own rule, and by the new table */
    int n_rules, *by_rule; /* settings of the rules */
    double *losses;        /* [units.n][n_rules] */
    int *start;
    struct calib_table *table; /* the new one; NULL = none */
};

/* --- the new table ---------------------------------------------------------------------------- */

static struct calib_table *copy_table(struct arena *arena, const struct calib_table *table)
{
    struct calib_table *copy = arena_memdup(arena, table, sizeof *table);

    copy->at = arena_memdup(arena, table->at, (size_t)table->n * sizeof *table->at);
    return copy;
}

/* The rule's threshold goes to the front; the others stay behind it. */
static void put_first(struct arena *arena, struct calib_tensor *tensor,
                      const struct scale_rule *rule, const struct number_format *format)
{
    const char *method = scale_rule_threshold(rule, format, arena);
    const struct calib_threshold *known = *method ? calib_threshold(tensor, method) : NULL;
    struct calib_threshold first = { *method ? method : rule->name, 0 }, *all;
    int n = 1;

    if (known) {
        first = *known;
    } else {
        float scale;

        if (!scale_of_calibration(rule, format, tensor, &scale))
            return;
        first.value = (double)scale * number_format_max(format);
    }
    all = arena_array(arena, struct calib_threshold, tensor->n_thresholds + 1);
    all[0] = first;
    for (int i = 0; i < tensor->n_thresholds; i++)
        if (&tensor->thresholds[i] != known)
            all[n++] = tensor->thresholds[i];
    tensor->thresholds = all;
    tensor->n_thresholds = n;
}

static bool reads(const struct unit *unit, const char *tensor)
{
    for (int i = 0; i < unit->n_reads; i++)
        if (strcmp(unit->reads[i], tensor) == 0)
            return true;
    return false;
}

/* -1 = no unit reads it. */
static int best_rule(const struct sensitive *s, const char *tensor)
{
    double least = 0;
    int best = -1;

    for (int k = 0; k < s->n_rules; k++) {
        double sum = 0;
        int n = 0;

        for (int i = 0; i < s->search->units.n; i++)
            if (s->start[i] != 0 && reads(&s->search->units.at[i], tensor)) {
                sum += s->losses[i * s->n_rules + k];
                n++;
            }
        if (n > 0 && (best < 0 || sum < least)) {
            least = sum;
            best = k;
        }
    }
    return best;
}

static void make_table(struct sensitive *s)
{
    struct arena *arena = &s->search->ctx->perm;
    const struct strategy_options *options = s->options;

    s->table = copy_table(arena, s->search->options->calib);
    for (int i = 0; i < s->table->n; i++) {
        struct calib_tensor *tensor = &s->table->at[i];
        const int rule = best_rule(s, tensor->name);

        if (rule >= 0)
            put_first(arena, tensor, &s->search->settings[s->by_rule[rule]].precision.data_scale,
                      &options->precision.data);
    }
}

/* --- which stay f32 --------------------------------------------------------------------------- */

/* The n units that lose most in f32, the others in `setting`. */
static int *without_worst(const struct sensitive *s, int n, int setting)
{
    int *settings = arena_array(&s->search->ctx->perm, int, s->search->units.n);

    for (int i = 0; i < s->search->units.n; i++)
        settings[i] = s->start[i] ? setting : 0;
    for (int i = 0; i < n; i++)
        settings[s->out->ranking[i].unit] = 0;
    return settings;
}

/* More and more of the worst, until the target is reached. */
static bool try_worst(struct sensitive *s, int setting, const struct calib_table *table,
                      const char *thresholds)
{
    const int most =
        s->options->max_float < s->out->n_ranked ? s->options->max_float : s->out->n_ranked;
    struct search *search = s->search;
    struct arena *arena = &search->ctx->perm;

    for (int n = 0; n <= most; n++) {
        const struct proposal candidate = { .what = arena_printf(arena, "%d in f32, %s thresholds",
                                                                 n, thresholds),
                                            .settings = without_worst(s, n, setting),
                                            .table = table };
        struct score score;

        if (n == 0 && !table)
            continue; /* the start */
        if (!search_judge_one(search, &candidate, &score))
            return false;
        found_stage(search, s->out, candidate.what, &score);
        found_offer(search, s->out, &candidate, &score);
        if (score.cos >= s->options->target)
            break;
    }
    return true;
}

/* The fewest units in f32 among those that reach the target are wanted, not the least loss. */
static bool choose_worst(struct sensitive *s)
{
    struct found with_old;
    const struct found begin = *s->out;

    s->search->n_expected += (s->table ? 2 : 1) * (s->options->max_float + 1);
    if (!try_worst(s, s->own, NULL, "old"))
        return false;
    if (!s->table)
        return true;
    with_old = *s->out;
    s->out->settings = begin.settings;
    s->out->table = NULL;
    s->out->end = begin.end;
    s->out->is_start = true;
    s->out->n_float = begin.n_float;
    if (!try_worst(s, s->by_table, s->table, "new"))
        return false;
    {
        const bool old_reaches = with_old.end.cos >= s->options->target;
        const bool new_reaches = s->out->end.cos >= s->options->target;
        const bool old_is_better = old_reaches != new_reaches ? old_reaches
                                   : old_reaches && with_old.n_float != s->out->n_float
                                       ? with_old.n_float < s->out->n_float
                                       : !score_is_better(&s->out->end, &with_old.end);

        if (old_is_better) {
            with_old.n_stages = s->out->n_stages;
            with_old.stages = s->out->stages;
            *s->out = with_old;
        }
    }
    return true;
}

/* --- both ------------------------------------------------------------------------------------- */

static void make_settings(struct sensitive *s)
{
    const struct strategy_options *options = s->options;
    struct precision by_table = options->precision;

    s->own = search_setting(s->search, &options->precision);
    s->n_rules = options->precision.has_data && options->n_rules ? options->n_rules : 1;
    s->by_rule = arena_array(&s->search->ctx->perm, int, s->n_rules);
    s->by_rule[0] = s->own;
    for (int k = 0; k < s->n_rules && options->precision.has_data && options->n_rules; k++) {
        struct precision p = options->precision;

        p.data_scale = options->rules[k];
        p.has_data_scale = true;
        s->by_rule[k] = search_setting(s->search, &p);
    }
    if (options->precision.has_data && scale_rule_parse("table", &by_table.data_scale)) {
        by_table.has_data_scale = true;
        s->by_table = search_setting(s->search, &by_table);
    }
}

bool search_sensitive(struct search *search, const struct strategy_options *options,
                      struct found *out)
{
    struct sensitive s = { .search = search, .options = options, .out = out };

    make_settings(&s);
    s.start = start_settings(search, &options->precision, s.own);
    s.losses = arena_array(&search->ctx->perm, double, search->units.n *s.n_rules);
    search->n_expected = 1;
    if (!found_begin(search, s.start, out))
        return false;
    if (out->start.cos >= options->target)
        return true;
    if (!rank_units(search, s.start, s.n_rules, s.by_rule, out, s.losses))
        return false;
    if (s.n_rules > 1 && search->options->calib)
        make_table(&s);
    return choose_worst(&s);
}

bool search_topk(struct search *search, const struct strategy_options *options, struct found *out)
{
    struct sensitive s = { .search = search, .options = options, .out = out };
    struct proposal candidate;
    struct score score;
    int n;

    s.own = search_setting(search, &options->precision);
    s.start = start_settings(search, &options->precision, s.own);
    search->n_expected = 2;
    if (!found_begin(search, s.start, out) || !rank_units(search, s.start, 1, &s.own, out, NULL))
        return false;
    n = options->max_float < out->n_ranked ? options->max_float : out->n_ranked;
    candidate =
        (struct proposal){ .what = arena_printf(&search->ctx->perm, "the worst %d in f32", n),
                           .settings = without_worst(&s, n, s.own) };
    if (!search_judge_one(search, &candidate, &score))
        return false;
    found_stage(search, out, candidate.what, &score);
    found_offer(search, out, &candidate, &score);
    return true;
}
