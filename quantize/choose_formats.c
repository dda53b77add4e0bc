/* choose_formats.c - how many formats `auto` of FP8 has.
 *
 * needs    observe: the float model's results; choose_scale
 * gives    q->n_formats, which annotate reads (common_formats.h); without results 0, and expected
 *          noise decides
 * method   for 2 and 3 formats, one for all tensors of a kind, then for 2, 3 ... with exceptions, a
 *          copy of the module is annotated and run on the samples, as in choose_scale.c: the first
 *          that loses at most `most_loss` times what the best format of each tensor loses. Regions
 *          share functions where their formats are the same, so exceptions cost more code than a
 *          format.
 *          One format leaves the sign's code of data without a sign unused, and is not tried.
 *          Expected noise is not enough to tell: an input whose greatest numbers say least may need
 *          a finer format for its small ones, which hardly count in its power */
#include "quantize/steps.h"

/* docs/lab/quantisation.md: what other bounds give. */
static const double most_loss = 1.5;

/* Weights, data with a sign and data without have one each. */
enum { MOST_BY_KIND = 3 };

static bool has_auto(const struct precision *precision)
{
    return (precision->has_data && precision->data.chooses_format) ||
           (precision->has_weights && precision->weights.chooses_format);
}

static bool is_wanted(const struct quantization *q)
{
    const struct qtable *qtable = q->options->qtable;
    bool any = has_auto(&q->options->precision);

    for (int i = 0; qtable && i < qtable->n; i++)
        any = any || has_auto(&qtable->rows[i].precision);
    return any && q->wanted;
}

static int n_formats_of(const struct format_set *set)
{
    int n = 0;

    for (int i = 0; i < ALL_FORMATS; i++)
        n += (set->formats >> i & 1) != 0;
    return n;
}

/* Whether these can be fewer than the best of each tensor, or have fewer exceptions. */
static bool is_worth_a_trial(struct format_count n, const struct format_set *all)
{
    const int most = n_formats_of(all);

    return n.by_kind ? n.n <= MOST_BY_KIND && (n.n < most || (n.n == most && all->n_exceptions > 0))
                     : n.n < most;
}

bool quantize_choose_formats(struct quantization *q)
{
    static const struct format_count each = { .n = ALL_FORMATS };
    struct writer *log = q->options->log_json ? NULL : q->options->log;
    struct format_set all, set;
    double least, loss;
    bool known;

    if (!is_wanted(q))
        return true;
    if (!choose_scale_try(q, q->data_rule, each, &all, &least, &known))
        return false;
    if (!known)
        return true;
    q->n_formats = each;
    if (log)
        writer_text(log, "# 1 - cosine of the results, by number of formats:");
    for (int i = 0; i < 2 * n_formats_of(&all) && q->n_formats.n == ALL_FORMATS; i++) {
        const struct format_count n = { .n = 2 + i % n_formats_of(&all),
                                        .by_kind = i < n_formats_of(&all) };

        if (!is_worth_a_trial(n, &all))
            continue;
        if (!choose_scale_try(q, q->data_rule, n, &set, &loss, &known))
            return false;
        if (known && loss <= most_loss * least)
            q->n_formats = n;
        if (log)
            writer_printf(log, " %d%s: %.4g,", n.n, n.by_kind ? " by kind" : "", loss);
    }
    if (log)
        writer_printf(log, " all %d: %.4g\n", n_formats_of(&all), least);
    return true;
}
