/* pattern_operator.c - the parts of a pattern's text that begin with a name: operators, classes,
 * dominates; and the names of captures. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern_parse.h"

/* --- captures --------------------------------------------------------------------------------- */

static bool is_bare_name(const char *name)
{
    static const char *const names[] = { "nodes",       "macs",         "weight_bytes",
                                         "input_bytes", "output_bytes", "out" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return dtype_from_name(name) != DTYPE_NONE;
}

/* A name that the user gave. */
void pattern_set_capture(struct pattern_parser *p, struct pattern *pattern, const char *name,
                         size_t at)
{
    if (p->no_names)
        pattern_complain(p, at, "'%s' is in the path of dominates, which captures nothing", name);
    else if (strchr(name, '.'))
        pattern_complain(p, at, "'%s' is not a name of a capture: it has a dot", name);
    else if (is_bare_name(name))
        pattern_complain(p, at, "'%s' is not a capture name: it is reserved in expressions", name);
    else if (names_has(&p->names, name)) {
        pattern_complain(p, at, "capture '%s' is used twice", name);
        diag_help(p->ctx,
                  "a value that is read twice begins a chain: x=* -> multiply(_, sigmoid(_))");
    }
    pattern->capture = name;
    names_add(&p->names, name);
}

/* --- operators -------------------------------------------------------------------------------- */

static enum op parse_op_name(struct pattern_parser *p, const char *name, size_t at)
{
    const char *candidates[2 * OP_COUNT], *nearest;
    const enum op op = op_from_text_name(name);
    size_t n = 0;

    if (op == OP_CALL || op == OP_RETURN)
        pattern_complain(
            p, at, "'%s' belongs to the structure of the graph, and cannot be in a pattern", name);
    if (op != OP_COUNT)
        return op;
    for (int i = 0; i < OP_COUNT; i++) {
        candidates[n++] = op_text_name((enum op)i);
        candidates[n++] = op_name((enum op)i);
    }
    nearest = str_nearest(name, candidates, n);
    pattern_complain(p, at, "unknown operator '%s'", str_safe(&p->ctx->perm, name, 60));
    if (strcmp(name, "relu6") == 0)
        diag_help(p->ctx, "ReLU6 is clip with a_min=0, a_max=6");
    else if (nearest)
        diag_help(p->ctx, "did you mean %s?", nearest);
    else
        diag_help(p->ctx,
                  "docs/guide/operators.md lists them; values belong in an operator's parentheses");
    return OP_COUNT;
}

static void check_inputs(struct pattern_parser *p, const struct pattern *pattern)
{
    const struct op_row *row;
    const char *wanted;

    if (pattern->op == OP_COUNT || p->stopped)
        return;
    row = op_row(pattern->op);
    if ((pattern->any_args || pattern->n_args >= row->least_inputs) &&
        (row->most_inputs < 0 || pattern->n_args <= row->most_inputs))
        return;
    if (row->most_inputs < 0)
        wanted = arena_printf(&p->ctx->scratch, "%d or more", row->least_inputs);
    else if (row->most_inputs != row->least_inputs)
        wanted = arena_printf(&p->ctx->scratch, "%d to %d", row->least_inputs, row->most_inputs);
    else
        wanted = arena_printf(&p->ctx->scratch, "%d", row->least_inputs);
    pattern_complain(p, pattern->offset, "%s takes %s input%s, found %d", op_name(pattern->op),
                     wanted, strcmp(wanted, "1") == 0 ? "" : "s", pattern->n_args);
    if (pattern->n_args < row->least_inputs)
        diag_help(p->ctx, "'...' at the end matches any others");
}

/* What follows '(' of an operator, a class or tuple. */
void pattern_parse_args(struct pattern_parser *p, struct pattern *pattern, struct pattern *previous)
{
    struct pattern *args[PATTERN_MAX_ARGS];
    int n = 0;

    while (!p->stopped && !pattern_accept(p, ")")) {
        if (n && !pattern_accept(p, ",")) {
            pattern_expected(p, "',' or ')'");
            break;
        }
        if (pattern_accept(p, "...")) {
            pattern->any_args = true;
            pattern_expect(p, ")");
            break;
        }
        if (n == PATTERN_MAX_ARGS) {
            pattern_complain(p, pattern_offset(p), "more than %d inputs", PATTERN_MAX_ARGS);
            p->stopped = true;
            break;
        }
        args[n] = pattern_parse_chain(p, previous, true);
        if (args[n])
            n++;
    }
    /* concatenate(tuple(a, b)) */
    if (n == 1 && args[0]->kind == PAT_TUPLE && pattern->kind == PAT_OP)
        pattern_set_args(p, pattern, args[0]->n_args, args[0]->args);
    else
        pattern_set_args(p, pattern, n, args);
    for (int i = 0; i < pattern->n_args; i++)
        if (pattern->args[i]->kind == PAT_TUPLE)
            pattern_complain(p, pattern->args[i]->offset,
                             "tuple(...) must be the only argument of an operator");
}

/* An operator or a class without parentheses: the previous result is its first input. */
static void imply_args(struct pattern_parser *p, struct pattern *pattern, struct pattern *previous)
{
    pattern_set_args(p, pattern, 1, &previous);
    pattern->any_args = pattern->kind == PAT_OP_CLASS || pattern->op == OP_COUNT ||
                        op_row(pattern->op)->most_inputs != 1;
}

struct pattern *pattern_parse_class(struct pattern_parser *p, struct pattern *previous, size_t at)
{
    struct pattern *pattern = pattern_make(p, PAT_OP_CLASS, at);
    const char *name = pattern_word(p);
    int found = -1;

    for (int i = PATTERN_VIEW; i <= PATTERN_OPAQUE; i++)
        if (name && op_class_name((enum op_pattern)i) &&
            strcmp(op_class_name((enum op_pattern)i), name) == 0)
            found = i;
    if (found < 0) {
        pattern_complain(p, at, "unknown class of operators '@%s'",
                         name ? str_safe(&p->ctx->perm, name, 60) : "");
        diag_help(p->ctx, "there are @elemwise, @broadcast, @injective, @reduce, @out_fusable");
    } else {
        pattern->op_class = (enum op_pattern)found;
    }
    if (pattern_accept(p, "("))
        pattern_parse_args(p, pattern, previous);
    else
        imply_args(p, pattern, previous);
    return pattern;
}

/* ".1" behind an operator. */
static struct pattern *parse_tuple_get(struct pattern_parser *p, struct pattern *op)
{
    enum { MAX_OUTPUTS = 10000 };
    const size_t at = pattern_offset(p);
    struct pattern *pattern;
    long index;
    char *end;
    int n_outputs;

    if (*p->at != '.' || !isdigit((unsigned char)p->at[1]))
        return op;
    index = strtol(p->at + 1, &end, 10);
    p->at = end;
    n_outputs = op->op == OP_COUNT ? -1 : op_row(op->op)->n_outputs;
    if (n_outputs < 0 && index >= MAX_OUTPUTS) {
        pattern_complain(p, at, "an operator has less than %d outputs", MAX_OUTPUTS);
        index = 0;
    } else if (n_outputs >= 0 && index >= n_outputs) {
        pattern_complain(p, at, "%s has %d output%s, the last is .%d", op_name(op->op), n_outputs,
                         n_outputs == 1 ? "" : "s", n_outputs - 1);
        index = 0;
    }
    pattern = pattern_make(p, PAT_TUPLE_GET, at);
    pattern->index = (int)index;
    pattern_set_args(p, pattern, 1, &op);
    return pattern;
}

struct pattern *pattern_parse_op(struct pattern_parser *p, const char *name, size_t at,
                                 struct pattern *previous, const char *capture, size_t capture_at)
{
    struct pattern *pattern = pattern_make(p, PAT_OP, at);

    pattern->op = parse_op_name(p, name, at);
    if (capture)
        pattern_set_capture(p, pattern, capture, capture_at);
    else if (!p->no_names && pattern->op != OP_COUNT)
        pattern->capture = names_own(&p->names, pattern->op);
    if (pattern_accept(p, "("))
        pattern_parse_args(p, pattern, previous);
    else
        imply_args(p, pattern, previous);
    check_inputs(p, pattern);
    if (pattern_accept(p, "{"))
        pattern_parse_attrs(p, pattern);
    return parse_tuple_get(p, pattern);
}

/* --- dominates -------------------------------------------------------------------------------- */

/* A path is a single operator at a time: what its inputs are is the matcher's business. */
static bool is_path(const struct pattern *pattern)
{
    switch (pattern->kind) {
    case PAT_OP:
    case PAT_OP_CLASS:
        for (int i = 0; i < pattern->n_args; i++)
            if (pattern->args[i]->kind > PAT_VARIABLE)
                return false;
        return true;
    case PAT_ALTERNATIVE:
        for (int i = 0; i < pattern->n_args; i++)
            if (!is_path(pattern->args[i]))
                return false;
        return true;
    default: return false;
    }
}

struct pattern *pattern_parse_dominates(struct pattern_parser *p, struct pattern *previous,
                                        size_t at)
{
    struct pattern *pattern = pattern_make(p, PAT_DOMINATES, at), *args[3];
    const bool no_names = p->no_names;

    for (int i = 0; i < 3; i++) {
        if (!pattern_expect(p, i == 0 ? "(" : ","))
            return NULL;
        p->no_names = no_names || i == 1;
        args[i] = i == 0 ? pattern_parse_chain(p, previous, true) : pattern_parse_new_chain(p);
        p->no_names = no_names;
        if (!args[i])
            return NULL;
    }
    if (!pattern_expect(p, ")"))
        return NULL;
    pattern_set_args(p, pattern, 3, args);
    if (!is_path(args[1]))
        pattern_complain(p, args[1]->offset,
                         "the path of dominates is one operator, or alternatives of one operator "
                         "each, with nothing but values as inputs");
    if (args[2]->kind != PAT_OP && args[2]->kind != PAT_OP_CLASS &&
        args[2]->kind != PAT_ALTERNATIVE)
        pattern_complain(p, args[2]->offset, "the child of dominates is an operator");
    return pattern;
}
