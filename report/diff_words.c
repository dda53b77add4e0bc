#include "report/diff_words.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

const char diff_signs[DIFF_STATES] = { '=', '~', '+', '-' };

static const char *number(struct arena *arena, double number)
{
    return isnan(number)             ? "-"
           : number == floor(number) ? arena_printf(arena, "%.0f", number)
                                     : arena_printf(arena, "%.4g", number);
}

const char *fact_growth(struct arena *arena, const struct diff_fact *fact)
{
    const double by = fact->new_number - fact->old_number;

    if (!fact->differs || isnan(by))
        return "";
    if (fact->is_share)
        return arena_printf(arena, "%+.4f", by);
    if (fact->old_number == 0 || fabs(by / fact->old_number) < 0.0005)
        return arena_printf(arena, "%+.4g", by);
    return arena_printf(arena, "%+.1f %%", 100 * by / fact->old_number);
}

/* "with a + b, without c" */
static const char *set_text(struct arena *arena, const struct diff_fact *fact)
{
    const bool more = strcmp(fact->new_text, "-") != 0, fewer = strcmp(fact->old_text, "-") != 0;

    return arena_printf(arena, "%s%s%s%s%s", more ? "with " : "", more ? fact->new_text : "",
                        more && fewer ? ", " : "", fewer ? "without " : "",
                        fewer ? fact->old_text : "");
}

/* The first digits of a hash tell two apart. */
static const char *short_text(struct arena *arena, const struct diff_fact *fact, const char *text)
{
    return strcmp(fact->what, "sha256") == 0 ? arena_printf(arena, "%.12s", text) : text;
}

const char *fact_text(struct arena *arena, const struct diff_fact *fact)
{
    const char *unit = fact->unit && *fact->unit ? arena_printf(arena, " %s", fact->unit) : "";
    const char *old =
        fact->unit ? number(arena, fact->old_number) : short_text(arena, fact, fact->old_text);
    const char *new =
        fact->unit ? number(arena, fact->new_number) : short_text(arena, fact, fact->new_text);
    const char *growth = fact_growth(arena, fact);

    if (!fact->differs)
        return arena_printf(arena, "%s%s", new, unit);
    if (fact->is_set)
        return set_text(arena, fact);
    return arena_printf(arena, "%s -> %s%s%s%s%s", old, new, unit, *growth ? " (" : "", growth,
                        *growth ? ")" : "");
}

const char *counts_text(struct arena *arena, const int count[DIFF_STATES])
{
    static const enum diff_state order[] = { DIFF_ADDED, DIFF_REMOVED, DIFF_CHANGED, DIFF_EQUAL };
    struct str text = { .arena = arena };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (count[order[i]])
            str_printf(&text, "%s%d %s", text.n ? ", " : "", count[order[i]],
                       diff_state_name(order[i]));
    return text.n ? str_text(&text) : "none";
}

const char *region_words(struct arena *arena, const struct diff_region *region)
{
    const struct fact_region *r = region->new ? region->new : region->old;

    return arena_printf(arena, "%s (%s)", region_label(arena, r, 3), region_operators(arena, r));
}

/* Of one that was added or removed: what it costs. */
static const char *region_costs(struct arena *arena, const struct fact_region *region)
{
    return arena_printf(arena, "%s%s, %.0f MACs, %.0f bytes of weights",
                        region->compiler ? "backend " : "kernel ",
                        region->compiler ? region->compiler
                        : region->kernel ? region->kernel
                                         : "-",
                        region->macs, region->weight_bytes);
}

const char *region_changes(struct arena *arena, const struct diff_region *region)
{
    struct str text = { .arena = arena };

    if (!region->old || !region->new)
        return region_costs(arena, region->new ? region->new : region->old);
    if (region->is_renamed)
        str_printf(&text, "was %s%s", region_label(arena, region->old, 3),
                   region->n_facts ? "; " : "");
    for (int i = 0; i < region->n_facts; i++)
        str_printf(&text, "%s%s %s", i ? "; " : "", region->facts[i].what,
                   fact_text(arena, &region->facts[i]));
    return str_text(&text);
}

const char *weight_name(const struct diff_weight *weight)
{
    return weight->new ? weight->new->name : weight->old->name;
}

static const char *form(struct arena *arena, const struct fact_weight *weight)
{
    return arena_printf(arena, "%s %s", weight->dtype, weight->shape);
}

static const char *statistics(struct arena *arena, const struct diff_weight *weight)
{
    const struct fact_weight *a = weight->old, *b = weight->new;

    if (isnan(a->mean) || isnan(b->mean))
        return "other numbers";
    return arena_printf(arena,
                        "other numbers: %.4g .. %.4g -> %.4g .. %.4g, standard deviation %.4g -> "
                        "%.4g",
                        a->least, a->greatest, b->least, b->greatest, a->deviation, b->deviation);
}

static const char *numbers(struct arena *arena, const struct diff_weight *weight)
{
    const char *of =
        isnan(weight->old->deviation)
            ? ""
            : arena_printf(arena, " (standard deviation %.4g)", weight->old->deviation);

    return arena_printf(arena, "largest change %.3g, mean %.3g%s, in %.0f of %.0f elements",
                        weight->largest, weight->mean, of, weight->n_changed,
                        weight->old->elements);
}

static const char *layout(const struct fact_weight *weight)
{
    return !weight->layout ? "unknown" : *weight->layout ? weight->layout : "rows";
}

const char *weight_changes(struct arena *arena, const struct diff_weight *weight)
{
    const struct fact_weight *a = weight->old, *b = weight->new;

    if (!a || !b)
        return arena_printf(arena, "%s, %.0f bytes", form(arena, a ? a : b), (a ? a : b)->bytes);
    if (weight->is_retrained)
        return arena_printf(arena, "%s: %s", form(arena, a),
                            weight->has_numbers ? numbers(arena, weight)
                                                : statistics(arena, weight));
    if (strcmp(a->dtype, b->dtype) != 0 || strcmp(a->shape, b->shape) != 0)
        return arena_printf(arena, "%s -> %s, %.0f -> %.0f bytes", form(arena, a), form(arena, b),
                            a->bytes, b->bytes);
    return arena_printf(arena, "%s: packed as %s -> %s", form(arena, a), layout(a), layout(b));
}
