/* diff_text.c - a difference for a terminal. Lines begin with + - ~, as those of diff do. */
#include "base/str.h"
#include "report/diff_words.h"

static void add_totals(struct str *out, const struct diff_fact *facts, int n, bool with_equal)
{
    for (int i = 0; i < n; i++)
        if (facts[i].differs || (with_equal && facts[i].unit))
            str_printf(out, "  %-10s %s\n", facts[i].what, fact_text(out->arena, &facts[i]));
}

static void add_regions(struct str *out, const struct diff *diff)
{
    int n = 0;

    str_printf(out, "regions: %s", counts_text(out->arena, diff->region_count));
    if (diff->n_renamed)
        str_printf(out, "; %d with other names", diff->n_renamed);
    str_add(out, "\n");
    for (int i = 0; i < diff->n_regions; i++) {
        const struct diff_region *region = &diff->regions[i];

        if (region->state != DIFF_EQUAL && n++ < DIFF_LISTED)
            str_printf(out, "%c %s: %s\n", diff_signs[region->state],
                       region_words(out->arena, region), region_changes(out->arena, region));
    }
    if (n > DIFF_LISTED)
        str_printf(out, "  and %d more; --json has all\n", n - DIFF_LISTED);
}

static void add_weights(struct str *out, const struct diff *diff)
{
    int n = 0;

    str_printf(out, "weights: %s\n", counts_text(out->arena, diff->weight_count));
    for (int i = 0; i < diff->n_weights; i++) {
        const struct diff_weight *weight = &diff->weights[i];

        if (weight->state != DIFF_EQUAL && n++ < DIFF_LISTED)
            str_printf(out, "%c %s: %s\n", diff_signs[weight->state], weight_name(weight),
                       weight_changes(out->arena, weight));
    }
    if (n > DIFF_LISTED)
        str_printf(out, "  and %d more; --json has all\n", n - DIFF_LISTED);
}

const char *diff_text(struct arena *arena, const struct diff *diff)
{
    struct str out = { .arena = arena };

    str_printf(&out, "%s -> %s: %s\n", diff->old->path, diff->new->path,
               diff->differs ? "they differ" : "no difference");
    add_totals(&out, diff->totals, diff->n_totals, diff->differs);
    add_totals(&out, diff->scores, diff->n_scores, true);
    if (diff->differs) {
        add_regions(&out, diff);
        add_weights(&out, diff);
    }
    return str_text(&out);
}
