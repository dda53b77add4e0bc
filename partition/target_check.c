/* target_check.c - mistakes in a target that no parser sees: names that mean nothing, lets in a
 * circle, rows that can never match.
 *
 * needs    rows with parsed patterns and expressions (those that failed are NULL)
 * gives    every error with its place
 * method   per row: names (target_names.c), then what the target and earlier rows make of it */
#include <string.h>

#include "base/str.h"
#include "partition/target_file.h"

/* Patterns share parts, so a walk over all of them could take forever. A walk that is longer than
 * this knows nothing. */
enum { MAX_STEPS = 1 << 16 };

/* The fewest operators that a match has. What stands without an optional part is a part of what
 * stands with it. */
static int least_nodes(const struct pattern *pattern, int *steps)
{
    int n = pattern->kind == PAT_OP || pattern->kind == PAT_OP_CLASS;

    if (--*steps < 0)
        return 0;
    if (pattern->kind == PAT_OPTIONAL)
        return least_nodes(pattern->args[1], steps);
    if (pattern->kind == PAT_DOMINATES) /* the path may be empty */
        return least_nodes(pattern->args[0], steps) + least_nodes(pattern->args[2], steps);
    if (pattern->kind == PAT_ALTERNATIVE) {
        n = least_nodes(pattern->args[0], steps);
        for (int i = 1; i < pattern->n_args; i++) {
            const int other = least_nodes(pattern->args[i], steps);

            n = other < n ? other : n;
        }
        return n;
    }
    for (int i = 0; i < pattern->n_args; i++)
        n += least_nodes(pattern->args[i], steps);
    return n;
}

/* Whether every match has one of these operators; *which is it. */
static bool needs_any(const struct pattern *pattern, const bool *ops, enum op *which, int *steps)
{
    if (--*steps < 0)
        return false;
    switch (pattern->kind) {
    case PAT_OP:
        if (ops[pattern->op]) {
            *which = pattern->op;
            return true;
        }
        break;
    case PAT_OPTIONAL: return needs_any(pattern->args[1], ops, which, steps);
    case PAT_DOMINATES:
        return needs_any(pattern->args[0], ops, which, steps) ||
               needs_any(pattern->args[2], ops, which, steps);
    case PAT_ALTERNATIVE:
        for (int i = 0; i < pattern->n_args; i++)
            if (!needs_any(pattern->args[i], ops, which, steps))
                return false;
        return pattern->n_args > 0;
    default: break;
    }
    for (int i = 0; i < pattern->n_args; i++)
        if (needs_any(pattern->args[i], ops, which, steps))
            return true;
    return false;
}

static bool check_size(struct ctx *ctx, const struct target *target,
                       const struct composite_row *row)
{
    int steps = MAX_STEPS;
    const int least = least_nodes(row->pattern, &steps);

    if (steps < 0 || target->limits.max_nodes == LIMIT_NONE || least <= target->limits.max_nodes)
        return true;
    return source_error(ctx, &row->source, 0,
                        "this composite has at least %d operators, max_nodes is %lld", least,
                        (long long)target->limits.max_nodes);
}

static bool check_host_operators(struct ctx *ctx, const struct target *target,
                                 const struct composite_row *row)
{
    int steps = MAX_STEPS;
    enum op which = OP_COUNT;

    if (!needs_any(row->pattern, target->keep_on_host, &which, &steps))
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
