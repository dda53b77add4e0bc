/* target_check.c - mistakes in a target that no parser sees: names that mean nothing, lets in a
 * circle, rows that can never match.
 *
 * needs    rows with parsed patterns and expressions (those that failed are NULL)
 * gives    every error with its place
 * method   per row: names (target_names.c), then what the target and earlier rows make of it */
#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "partition/target_file.h"

/* What stands before this step of a chain; NULL = nothing. It is shared by all places of `_`. */
static const struct pattern *before(const struct pattern *step)
{
    if (step->previous)
        return step->previous;
    return step->kind == PAT_OPTIONAL ? step->args[1] : NULL;
}

static int least_nodes(const struct pattern *pattern, const struct pattern *known);

/* Of a step alone: what stands before it, `known`, is counted elsewhere. */
static int least_of_step(const struct pattern *step, const struct pattern *known)
{
    int n = step->kind == PAT_OP || step->kind == PAT_OP_CLASS;

    if (step->kind == PAT_OPTIONAL)
        return 0;
    if (step->kind == PAT_ALTERNATIVE)
        n = INT_MAX;
    for (int i = 0; i < step->n_args; i++) {
        const int least = least_nodes(step->args[i], known);

        if (step->kind == PAT_ALTERNATIVE)
            n = least < n ? least : n;
        else if (step->kind != PAT_DOMINATES || i != 1) /* the path may be empty */
            n += least;
    }
    return n;
}

/* The fewest operators that a match has. */
static int least_nodes(const struct pattern *pattern, const struct pattern *known)
{
    const struct pattern *previous = before(pattern);

    if (pattern == known)
        return 0;
    if (!previous || previous == known)
        return least_of_step(pattern, known);
    return least_nodes(previous, known) + least_of_step(pattern, previous);
}

static bool needs_any(const struct pattern *pattern, const struct pattern *known, const bool *ops,
                      enum op *which);

static bool step_needs_any(const struct pattern *step, const struct pattern *known, const bool *ops,
                           enum op *which)
{
    int n = 0, among = 0;

    if (step->kind == PAT_OPTIONAL)
        return false;
    if (step->kind == PAT_OP && ops[step->op]) {
        *which = step->op;
        return true;
    }
    for (int i = 0; i < step->n_args; i++) {
        if (step->kind == PAT_DOMINATES && i == 1)
            continue;
        among += needs_any(step->args[i], known, ops, which);
        n++;
    }
    return step->kind == PAT_ALTERNATIVE ? n > 0 && among == n : among > 0;
}

/* Whether every match has one of these operators; *which is it. */
static bool needs_any(const struct pattern *pattern, const struct pattern *known, const bool *ops,
                      enum op *which)
{
    const struct pattern *previous = before(pattern);

    if (pattern == known)
        return false;
    if (!previous || previous == known)
        return step_needs_any(pattern, known, ops, which);
    return needs_any(previous, known, ops, which) || step_needs_any(pattern, previous, ops, which);
}

static bool check_size(struct ctx *ctx, const struct target *target,
                       const struct composite_row *row)
{
    const int least = least_nodes(row->pattern, NULL);

    if (target->limits.max_nodes == LIMIT_NONE || least <= target->limits.max_nodes)
        return true;
    return source_error(ctx, &row->source, 0,
                        "this composite has at least %d operators, max_nodes is %lld", least,
                        (long long)target->limits.max_nodes);
}

static bool check_host_operators(struct ctx *ctx, const struct target *target,
                                 const struct composite_row *row)
{
    enum op which = OP_COUNT;

    if (!needs_any(row->pattern, NULL, target->keep_on_host, &which))
        return true;
    return source_error(ctx, &row->source, 0,
                        "this composite cannot do without %s, which keep_on_host lists",
                        op_name(which));
}

static bool check_conditions(struct ctx *ctx, const struct composite_row *row)
{
    struct expression **tests = arena_array(&ctx->scratch, struct expression *, row->n_conditions);
    const struct condition *a, *b;
    int first, second;

    for (int i = 0; i < row->n_conditions; i++)
        tests[i] = row->conditions[i].test;
    if (!expressions_clash(&ctx->scratch, tests, row->n_conditions, &first, &second))
        return true;
    a = &row->conditions[first];
    b = &row->conditions[second];
    if (first == second)
        return source_error(ctx, &a->source, 0, "'%s' can never hold", expression_text(a->test));
    return source_error(ctx, &b->source, 0, "'%s' and '%s' can never hold together",
                        expression_text(a->test), expression_text(b->test));
}

static bool has_condition(const struct composite_row *row, const struct condition *wanted)
{
    for (int i = 0; i < row->n_conditions; i++)
        if (strcmp(expression_text(row->conditions[i].test), expression_text(wanted->test)) == 0)
            return true;
    return false;
}

/* Whether `earlier` takes everything that `row` could, their patterns being the same. Conditions
 * about lets are not compared. */
static bool takes_all(const struct composite_row *earlier, const struct composite_row *row)
{
    if (earlier->check || (earlier->n_conditions && (earlier->n_lets || row->n_lets)))
        return false;
    for (int i = 0; i < earlier->n_conditions; i++)
        if (!has_condition(row, &earlier->conditions[i]))
            return false;
    return true;
}

/* first_with maps the text of a pattern to the row that will take most of its matches. */
static bool check_order(struct ctx *ctx, const struct composite_row *row, struct map *first_with)
{
    const struct composite_row *earlier;
    struct str text = { .arena = &ctx->scratch };

    pattern_print(row->pattern, &text);
    earlier = map_get(first_with, str_text(&text));
    if (!earlier || row->n_conditions < earlier->n_conditions)
        map_set(first_with, str_text(&text), (void *)(uintptr_t)row);
    if (!earlier || !takes_all(earlier, row))
        return true;
    source_error(ctx, &row->source, 0, "this composite can never match: %s takes all its matches",
                 earlier->name);
    diag_help(ctx, "the first row that matches wins: the one with more conditions belongs first");
    return false;
}

bool target_check_rows(struct ctx *ctx, const struct target *target, int first)
{
    struct map first_with = { .arena = &ctx->scratch };
    bool ok = true;

    for (int i = 0; i < target->n_rows; i++) {
        const struct composite_row *row = &target->rows[i];

        if (!row->pattern || !row->name)
            continue;
        if (i < first) {
            check_order(ctx, row, &first_with);
            continue;
        }
        ok = row_check_names(ctx, row) && ok;
        ok = check_conditions(ctx, row) && ok;
        ok = check_size(ctx, target, row) && ok;
        ok = check_host_operators(ctx, target, row) && ok;
        ok = check_order(ctx, row, &first_with) && ok;
    }
    return ok;
}
