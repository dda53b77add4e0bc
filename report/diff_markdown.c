/* diff_markdown.c - a difference as a comment on a merge request: GitHub's Markdown, which GitLab
 * shows alike. */
#include <string.h>

#include "base/str.h"
#include "report/diff_words.h"

/* Text of a model between `...`, in a cell of a table. */
static const char *cell(struct arena *arena, const char *text)
{
    struct str out = { .arena = arena };

    for (const char *c = text; *c; c++)
        str_printf(&out, "%s%c", *c == '|' ? "\\" : "", *c == '`' ? '\'' : *c);
    return str_text(&out);
}

/* Outside of `...`: no marks and no tags. */
static const char *plain(struct arena *arena, const char *text)
{
    struct str out = { .arena = arena };

    for (const char *c = text; *c; c++)
        if (*c == '<' || *c == '>')
            str_add(&out, *c == '<' ? "&lt;" : "&gt;");
        else
            str_printf(&out, "%s%c", strchr("|*_[]`\\~", *c) ? "\\" : "", *c);
    return str_text(&out);
}

/* "->" reads better as an arrow where there are fonts. */
static const char *arrows(struct arena *arena, const char *text)
{
    const char *arrow;
    struct str out = { .arena = arena };

    for (; (arrow = strstr(text, " -&gt; ")) != NULL; text = arrow + strlen(" -&gt; ")) {
        str_addn(&out, text, (size_t)(arrow - text));
        str_add(&out, " → ");
    }
    str_add(&out, text);
    return str_text(&out);
}

static void add_totals(struct str *out, const struct diff_fact *facts, int n)
{
    struct arena *arena = out->arena;

    for (int i = 0; i < n; i++) {
        const struct diff_fact *f = &facts[i];
        const char *bold = f->differs ? "**" : "";

        if (f->differs || f->unit)
            str_printf(out, "| %s | %s | %s%s%s | %s |\n", f->what, plain(arena, f->old_text), bold,
                       plain(arena, f->new_text), bold, fact_growth(arena, f));
    }
}

static void add_list(struct str *out, const struct diff *diff, bool regions)
{
    const int n = regions ? diff->n_regions : diff->n_weights;
    const int *count = regions ? diff->region_count : diff->weight_count;
    struct arena *arena = out->arena;
    int listed = 0;

    str_printf(out, "\n<details%s><summary>%s: %s</summary>\n\n",
               count[DIFF_EQUAL] < n && n - count[DIFF_EQUAL] <= 10 ? " open" : "",
               regions ? "Regions" : "Weights", counts_text(arena, count));
    for (int i = 0; i < n; i++) {
        const struct diff_region *region = &diff->regions[regions ? i : 0];
        const struct diff_weight *weight = &diff->weights[regions ? 0 : i];
        const enum diff_state state = regions ? region->state : weight->state;

        if (state == DIFF_EQUAL || listed++ >= DIFF_LISTED)
            continue;
        if (listed == 1)
            str_printf(out, "| | %s | |\n|---|---|---|\n", regions ? "region" : "tensor");
        str_printf(out, "| %s | `%s` | %s |\n", diff_state_name(state),
                   cell(arena, regions ? region_words(arena, region) : weight_name(weight)),
                   arrows(arena, plain(arena, regions ? region_changes(arena, region)
                                                      : weight_changes(arena, weight))));
    }
    if (listed > DIFF_LISTED)
        str_printf(out, "\nand %d more; `--json` has all\n", listed - DIFF_LISTED);
    str_add(out, "\n</details>\n");
}

const char *diff_markdown(struct arena *arena, const struct diff *diff)
{
    struct str out = { .arena = arena };

    str_printf(&out, "### relayc: `%s` %s\n\n", cell(arena, diff->new->model_file),
               diff->differs ? "has changed" : "is the same");
    str_add(&out, "| | old | new | |\n|---|---:|---:|---:|\n");
    add_totals(&out, diff->totals, diff->n_totals);
    add_totals(&out, diff->scores, diff->n_scores);
    if (diff->differs) {
        add_list(&out, diff, true);
        add_list(&out, diff, false);
    }
    return str_text(&out);
}
