/* explain_print.c - the explanation for people. */
#include "partition/explain.h"

#include <string.h>

#include "base/str.h"

enum {
    NAME_BYTES = 80,
    EXCERPT_BYTES = 24,
    WANTED_BYTES = 60,
    LINE_COLUMNS = 100,
    MAX_ORIGINS = 3,
    ORIGIN_BYTES = 60
};

static const char *time_text(struct arena *arena, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ns >= units[i].ns)
            return arena_printf(arena, "%.2f %s", ns / units[i].ns, units[i].unit);
    return arena_printf(arena, "%.0f ns", ns);
}

static const char *cut(struct arena *arena, const char *text, int most)
{
    return strlen(text) > (size_t)most ? arena_printf(arena, "%.*s...", most, text) : text;
}

/* The text of the row's pattern from the place where it failed. */
static const char *excerpt(struct arena *arena, const struct verdict *verdict)
{
    const size_t at = (size_t)verdict->column - 1;

    return at < strlen(verdict->row->text) ? cut(arena, verdict->row->text + at, EXCERPT_BYTES)
                                           : "its end";
}

static void print_failure(const struct verdict *verdict, struct arena *arena, struct str *out)
{
    str_printf(out, "failed: %s", verdict->found ? verdict->found : "no match");
    if (verdict->column > 0)
        str_printf(out, ", wanted %s (pattern column %d: %s)",
                   cut(arena, verdict->wanted ? verdict->wanted : "another", WANTED_BYTES),
                   verdict->column, excerpt(arena, verdict));
    else if (verdict->wanted)
        str_printf(out, ", wanted %s", verdict->wanted); /* a condition is told whole */
}

static void print_verdict(const struct verdict *verdict, int width, struct arena *arena,
                          struct str *out)
{
    str_printf(out, "    %-*s  ", width, verdict->row->name);
    if (verdict->matched)
        str_printf(out, "%s as #%d: %d node%s, %s, on c %s", verdict->chosen ? "chosen" : "matched",
                   verdict->candidate, verdict->n_nodes, str_plural(verdict->n_nodes),
                   time_text(arena, verdict->target_ns), time_text(arena, verdict->host_ns));
    else
        print_failure(verdict, arena, out);
    if (verdict->matched && verdict->excluded)
        str_printf(out, "; not taken: %s", verdict->excluded);
    if (verdict->cost_problem)
        str_printf(out, "; cost_ns: %s, by the rates instead", verdict->cost_problem);
    str_add(out, "\n");
}

/* Whether the row says something about the node: it failed, but not before it had begun. */
static bool is_told(const struct verdict *verdict)
{
    return verdict->tried && (verdict->matched || !verdict->elsewhere);
}

/* The rows that were tried, and how many were not, or had nothing to tell. */
static void print_verdicts(const struct explained_node *node, struct arena *arena, struct str *out)
{
    int width = 0, n_untried = 0, n_elsewhere = 0;

    for (int i = 0; i < node->n; i++) {
        const int n = (int)strlen(node->verdicts[i].row->name);

        width = is_told(&node->verdicts[i]) && n > width ? n : width;
        n_untried += !node->verdicts[i].tried;
        n_elsewhere += node->verdicts[i].tried && !is_told(&node->verdicts[i]);
    }
    for (int i = 0; i < node->n; i++)
        if (is_told(&node->verdicts[i]))
            print_verdict(&node->verdicts[i], width, arena, out);
    if (n_elsewhere)
        str_printf(out, "    %d pattern%s cannot start at this node\n", n_elsewhere,
                   str_plural(n_elsewhere));
    if (n_untried)
        str_printf(out, "    not tried: %d pattern%s after a match\n", n_untried,
                   str_plural(n_untried));
    if (node->kept_by)
        str_printf(out, "    %s keeps %s on the host\n", node->kept_by->name, op_name(node->op));
    else if (node->n == 0)
        str_printf(out, "    no row mentions %s\n", op_name(node->op));
}

/* " from /conv1/Conv #0": the ONNX nodes. */
static void print_origin(const struct origin *origin, struct arena *arena, struct str *out)
{
    for (int n = 0; origin; origin = origin->next, n++) {
        if (n == MAX_ORIGINS) {
            str_add(out, " + ...");
            return;
        }
        str_printf(out, "%s%s%s%s #%ld", n ? " + " : "  from ",
                   str_safe(arena, origin->op_type, 40), origin->name && *origin->name ? " " : "",
                   str_safe(arena, origin->name ? origin->name : "", ORIGIN_BYTES), origin->index);
    }
}

static void print_node(const struct explained_node *node, struct arena *arena, struct str *out)
{
    str_printf(out, "%s  %s  %s  -> %s", str_safe(arena, node->name, NAME_BYTES), op_name(node->op),
               node->type, node->target ? node->target->name : "c");
    if (node->region >= 0)
        str_printf(out, " in region %d", node->region);
    str_printf(out, "  (on c %s)", time_text(arena, node->host_ns));
    print_origin(node->origin, arena, out);
    str_add(out, "\n");
    print_verdicts(node, arena, out);
}

static bool is_wanted(const struct explained_node *node, const char *only)
{
    bool found = !only || strstr(node->name, only);

    for (const struct origin *origin = node->origin; origin && !found; origin = origin->next)
        found = origin->name && strstr(origin->name, only);
    return found;
}

/* Why a node is not on the target, in a word; NULL = it is, or nothing of the target matched. */
static const char *reason_of(const struct explained_node *node, const struct target *target)
{
    const char *reason = NULL;

    for (int i = 0; i < node->n && !reason && node->target != target; i++)
        if (node->verdicts[i].row->target == target && node->verdicts[i].matched)
            reason = node->verdicts[i].reason;
    if (!reason && node->target != target && target->keep_on_host[node->op])
        reason = "keep_on_host";
    return reason;
}

/* "npu: 8 regions, 33 of 85 nodes; not taken: 13 by max_onchip_bytes, 9 by hand-over" */
static void print_target(const struct explanation *explanation, const struct target *target,
                         struct str *out)
{
    static const char *const reasons[] = { "max_nodes",        "max_macs", "max_weight_bytes",
                                           "max_onchip_bytes", "min_macs", "hand-over",
                                           "overlap",          "slower",   "assignment",
                                           "keep_on_host" };
    int n_regions = 0, n_nodes = 0;
    const char *before = "; not taken: ";

    for (int i = 0; i < explanation->n_regions; i++)
        n_regions += explanation->regions[i].target == target;
    for (int i = 0; i < explanation->n_nodes; i++)
        n_nodes += explanation->nodes[i].target == target;
    str_printf(out, "%s: %d region%s, %d of %d node%s", target->name, n_regions,
               str_plural(n_regions), n_nodes, explanation->n_nodes,
               str_plural(explanation->n_nodes));
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
        int n = 0;

        for (int i = 0; i < explanation->n_nodes; i++) {
            const char *reason = reason_of(&explanation->nodes[i], target);

            n += reason && strcmp(reason, reasons[r]) == 0;
        }
        if (n == 0)
            continue;
        str_printf(out, "%s%d by %s", before, n, reasons[r]);
        before = ", ";
    }
    str_add(out, "\n");
}

/* Names with blanks in front, broken into lines; `column` is where the first one begins. */
static void print_members(const struct explanation *explanation, int region, size_t column,
                          struct arena *arena, struct str *out)
{
    for (int i = 0; i < explanation->n_nodes; i++) {
        const char *name;

        if (explanation->nodes[i].region != region)
            continue;
        name = str_safe(arena, explanation->nodes[i].name, NAME_BYTES);
        column += strlen(name) + 1;
        if (column > LINE_COLUMNS) {
            str_add(out, "\n   ");
            column = strlen(name) + 4;
        }
        str_printf(out, " %s", name);
    }
}

static void print_region(const struct explanation *explanation, int index, struct arena *arena,
                         struct str *out)
{
    const struct region_plan *region = &explanation->regions[index];
    const char *title = arena_printf(arena, "region %d  %s ", index, region->target->name);

    str_add(out, title);
    print_members(explanation, index, strlen(title), arena, out);
    str_printf(out, "\n    %d node%s in %d composite%s, %.2f M MACs\n", region->n_nodes,
               str_plural(region->n_nodes), region->n, str_plural(region->n),
               (double)region->macs / 1e6);
    str_printf(out, "    bytes: %lld of weights, %lld in, %lld out, %lld on chip\n",
               (long long)region->weight_bytes, (long long)region->input_bytes,
               (long long)region->output_bytes, (long long)region->onchip_bytes);
    str_printf(out, "    %s + hand-over %s, on c %s\n", time_text(arena, region->target_ns),
               time_text(arena, region->handover_ns), time_text(arena, region->host_ns));
}

static void print_summary(const struct explanation *explanation, struct arena *arena,
                          struct str *out)
{
    for (int i = 0; i < explanation->n_regions; i++) {
        str_add(out, "\n");
        print_region(explanation, i, arena, out);
    }
    if (explanation->decisions)
        str_add(out, "\ndecisions\n");
    for (const struct decision *d = explanation->decisions; d; d = d->next)
        str_printf(out, "    %s%s%s\n", d->target ? d->target->name : "", d->target ? ": " : "",
                   d->text);
    str_add(out, "\n");
    for (int i = 0; i < explanation->n_targets; i++)
        print_target(explanation, explanation->targets[i], out);
    str_printf(out, "estimated time: all on c %s, as chosen %s\n",
               time_text(arena, explanation->host_only_ns),
               time_text(arena, explanation->chosen_ns));
}

void explanation_print(const struct explanation *explanation, const char *only, struct arena *arena,
                       struct str *out)
{
    for (int i = 0; i < explanation->n_nodes; i++)
        if (is_wanted(&explanation->nodes[i], only))
            print_node(&explanation->nodes[i], arena, out);
    if (!only)
        print_summary(explanation, arena, out);
}
