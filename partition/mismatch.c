/* mismatch.c - tells in words why a pattern does not match. */
#include <string.h>

#include "base/str.h"
#include "partition/expression_tree.h"
#include "partition/match_search.h"

/* So that the most frequent answer costs no memory. */
static const char *const op_found[OP_COUNT] = {
#define RELAY_OP(symbol, name, ...) [OP_##symbol] = "op is " name,
#include "relay_ir/ops.def"
#undef RELAY_OP
};

void failed_note(struct failed *failed, const struct failed *attempt)
{
    const bool same_place = failed->any && attempt->score == failed->score &&
                            attempt->failure == FAILURE_OP && failed->failure == FAILURE_OP &&
                            attempt->node == failed->node && attempt->value == failed->value;
    int n_wanted = 0, at;

    if (failed->any && !same_place &&
        (attempt->score < failed->score ||
         (attempt->score == failed->score && attempt->pattern->offset <= failed->pattern->offset)))
        return;
    if (!same_place) {
        *failed = *attempt;
        failed->n_wanted = 0;
    } else if (attempt->pattern->offset > failed->pattern->offset) {
        failed->pattern = attempt->pattern;
    }
    if (attempt->failure != FAILURE_OP)
        return;
    n_wanted = failed->n_wanted;
    for (int i = 0; i < n_wanted; i++)
        if (failed->wanted[i] == attempt->pattern)
            return;
    if (n_wanted == SEARCH_MAX_WANTED)
        return;
    for (at = n_wanted; at > 0 && failed->wanted[at - 1]->offset > attempt->pattern->offset; at--)
        failed->wanted[at] = failed->wanted[at - 1];
    failed->wanted[at] = attempt->pattern;
    failed->n_wanted++;
}

static const char *value_text(struct arena *arena, const struct value *value)
{
    return arena_printf(arena, "%s%s", value->kind == VALUE_CONSTANT ? "@" : "%",
                        str_safe(arena, value->name, 60));
}

static const char *wanted_op(struct arena *arena, const struct pattern *pattern)
{
    if (pattern->kind == PAT_OP)
        return op_text_name(pattern->op);
    return arena_printf(arena, "@%s", op_class_name(pattern->op_class));
}

/* "relu, clip or silu", each once. */
static const char *wanted_ops(const struct failed *failed, struct arena *arena)
{
    const char *names[SEARCH_MAX_WANTED];
    struct str text = { .arena = arena };
    int n = 0;

    for (int i = 0; i < failed->n_wanted; i++) {
        const char *name = wanted_op(arena, failed->wanted[i]);
        bool known = false;

        for (int k = 0; k < n; k++)
            known = known || strcmp(names[k], name) == 0;
        if (!known)
            names[n++] = name;
    }
    if (n == 1)
        return names[0];
    for (int i = 0; i < n; i++)
        str_printf(&text, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
    return str_text(&text);
}

static const char *found_instead_of_op(const struct failed *failed, struct arena *arena)
{
    if (failed->value->def)
        return op_found[failed->value->def->op];
    return arena_printf(arena, "%s is %s", value_text(arena, failed->value),
                        failed->value->kind == VALUE_CONSTANT ? "a constant"
                                                              : "an input of the function");
}

static const char *plural(struct arena *arena, int n, const char *what)
{
    return arena_printf(arena, "%d %s%s", n, what, n == 1 ? "" : "s");
}

static void tell_attr(const struct failed *failed, struct arena *arena, struct mismatch *why)
{
    const struct attr_test *test = &failed->pattern->attrs[failed->attr];
    struct str found = { .arena = arena }, wanted = { .arena = arena };
    struct term term;
    const char *reason = "";

    if (node_attr(failed->node, test->field, &term, &reason)) {
        str_printf(&found, "%s is ", test->field);
        term_print(&found, &term);
    } else {
        str_printf(&found, "%s %s", test->field, reason);
    }
    str_printf(&wanted, "%s=", test->field);
    term_print(&wanted, &test->value);
    why->found = str_text(&found);
    why->wanted = str_text(&wanted);
}

static void tell_type(const struct failed *failed, struct arena *arena, struct mismatch *why)
{
    struct str wanted = { .arena = arena };

    pattern_print_type(&failed->pattern->type, &wanted);
    if (!failed->pattern->type.dtypes && failed->value &&
        dtype_packed_bits(failed->value->type.dtype) < 32)
        str_printf(&wanted, "%sa type that the pattern names, as in %s:%s", wanted.n ? " and " : "",
                   failed->pattern->capture ? failed->pattern->capture : "x",
                   dtype_name(failed->value->type.dtype));
    why->found = failed->value ? arena_printf(arena, "%s is %s", value_text(arena, failed->value),
                                              type_text(arena, &failed->value->type))
                               : "the input is absent";
    why->wanted = str_text(&wanted);
}

static const char *leaf_text(struct arena *arena, const struct pattern *pattern)
{
    return arena_printf(arena, "%s:%s", pattern->capture ? pattern->capture : "*",
                        pattern->kind == PAT_CONSTANT ? "const" : "var");
}

static void tell_outside(const struct failed *failed, struct arena *arena, struct mismatch *why)
{
    const char *value = value_text(arena, failed->value);

    why->wanted = "read inside the match only";
    why->found =
        failed->reader->op == OP_RETURN
            ? arena_printf(arena, "%s is a result", value)
            : arena_printf(arena, "%s is also read by %s of %s", value, op_name(failed->reader->op),
                           value_text(arena, failed->reader->outputs[0]));
}

static void tell_same(const struct failed *failed, struct arena *arena, struct mismatch *why)
{
    const struct pattern *pattern = failed->pattern;

    why->found = failed->value
                     ? arena_printf(arena, "%s is another value", value_text(arena, failed->value))
                     : "the input is absent";
    why->wanted = arena_printf(arena, "the same value as %s before",
                               pattern->capture ? pattern->capture : "'_'");
}

void failed_tell(const struct failed *failed, struct arena *arena, struct mismatch *why)
{
    const struct pattern *pattern = failed->pattern;

    *why = (struct mismatch){ .node = failed->node,
                              .offset = pattern->offset,
                              .is_op = failed->failure == FAILURE_OP,
                              .n_matched = failed->n_matched };
    switch (failed->failure) {
    case FAILURE_OP:
        why->found = found_instead_of_op(failed, arena);
        why->wanted = wanted_ops(failed, arena);
        return;
    case FAILURE_ABSENT:
        why->found = arena_printf(arena, "an input of %s is absent", op_name(failed->node->op));
        why->wanted = "a value";
        return;
    case FAILURE_OUTPUT:
        why->found = arena_printf(arena, "it is output %d of %s", failed->value->index,
                                  op_name(failed->node->op));
        why->wanted =
            arena_printf(arena, "output %d", pattern->kind == PAT_TUPLE_GET ? pattern->index : 0);
        return;
    case FAILURE_INPUTS:
        why->found = plural(arena, failed->node->n_inputs, "input");
        why->wanted = arena_printf(arena, "%s%s", plural(arena, pattern->n_args, "input"),
                                   pattern->any_args ? " or more" : "");
        return;
    case FAILURE_KIND:
        why->found =
            arena_printf(arena, "%s is %s", value_text(arena, failed->value),
                         failed->value->kind == VALUE_CONSTANT ? "a constant" : "no constant");
        why->wanted = leaf_text(arena, pattern);
        return;
    case FAILURE_TYPE: tell_type(failed, arena, why); return;
    case FAILURE_ATTR: tell_attr(failed, arena, why); return;
    case FAILURE_SAME: tell_same(failed, arena, why); return;
    case FAILURE_TAKEN:
        why->found = "it belongs to another composite";
        why->wanted = "a node that is free";
        return;
    case FAILURE_PATH:
        why->found = "nothing before it, through operators of the path, can be the parent";
        why->wanted = "the parent of dominates";
        return;
    case FAILURE_INNER:
        why->found = arena_printf(arena, "%s is computed inside the match",
                                  value_text(arena, failed->value));
        why->wanted = arena_printf(arena, "a value from outside for %s",
                                   pattern->capture ? pattern->capture : "'*'");
        return;
    case FAILURE_OUTSIDE: tell_outside(failed, arena, why); return;
    case FAILURE_STEPS:
        why->found = "there are too many ways to try here";
        why->wanted = "a pattern with fewer alternatives";
        return;
    }
}
