/* pattern_print.c - the text of a pattern.
 *
 * method   as pattern_parse.c in reverse, with its notions: what `_` means is handed down as
 *          `scope`, and names that operators get by themselves are counted as there, so that only
 *          others are written. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "partition/pattern_parse.h"

struct printer {
    struct str *out;
    struct names names;
    bool no_names; /* in the path of dominates */
};

static void print_chain(struct printer *p, const struct pattern *pattern,
                        const struct pattern *scope, bool in_args);

static bool has_conditions(const struct pattern *pattern)
{
    return pattern->kind == PAT_CONSTANT || pattern->kind == PAT_VARIABLE || pattern->type.dtypes ||
           pattern->type.rank >= 0;
}

/* What `_` in the first step of a chain means when nothing is before the chain. */
static bool is_start(const struct pattern *pattern)
{
    return pattern->kind == PAT_WILDCARD && !pattern->capture && !has_conditions(pattern);
}

void pattern_print_type(const struct type_test *type, struct str *out)
{
    const char *between = "";

    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++)
        if (type->dtypes >> i & 1) {
            str_printf(out, "%s%s", between, dtype_name((enum dtype)i));
            between = "|";
        }
    between = *between ? " " : "";
    if (type->has_shape) {
        str_printf(out, "%s(", between);
        for (int i = 0; i < type->rank; i++)
            if (type->dim[i] < 0)
                str_printf(out, "%s_", i ? "," : "");
            else
                str_printf(out, "%s%lld", i ? "," : "", (long long)type->dim[i]);
        str_add(out, ")");
    } else if (type->rank >= 0) {
        str_printf(out, "%srank=%d", between, type->rank);
    }
}

static void print_conditions(struct printer *p, const struct pattern *pattern)
{
    const bool typed = pattern->type.dtypes || pattern->type.rank >= 0;

    if (!has_conditions(pattern))
        return;
    str_add(p->out, ":");
    if (pattern->kind == PAT_CONSTANT || pattern->kind == PAT_VARIABLE)
        str_printf(p->out, "%s%s", pattern->kind == PAT_CONSTANT ? "const" : "var",
                   typed ? " " : "");
    pattern_print_type(&pattern->type, p->out);
}

static enum attr_kind kind_of_attr(enum op op, const char *field)
{
    const struct attr_schema *schema = attrs_schema(op_row(op)->attrs);

    for (int i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->fields[i].name, field) == 0)
            return schema->fields[i].kind;
    return ATTR_INT;
}

static void print_attr(struct printer *p, enum op op, const struct attr_test *test)
{
    const struct term *value = &test->value;

    str_printf(p->out, "%s=", test->field);
    switch (value->kind) {
    case TERM_INT:
        if (kind_of_attr(op, test->field) == ATTR_BOOL)
            str_add(p->out, value->integer ? "true" : "false");
        else
            str_printf(p->out, "%lld", (long long)value->integer);
        break;
    case TERM_REAL:
        if (isinf(value->real))
            str_add(p->out, value->real < 0 ? "-inf" : "inf");
        else
            str_printf(p->out, "%.17g", value->real);
        break;
    case TERM_TEXT:
        str_printf(p->out, strchr(value->text, '"') ? "'%s'" : "\"%s\"", value->text);
        break;
    case TERM_INTS:
        str_add(p->out, "[");
        for (int i = 0; i < value->ints.n; i++)
            str_printf(p->out, "%s%lld", i ? "," : "", (long long)value->ints.at[i]);
        str_add(p->out, "]");
        break;
    case TERM_ABSENT: break;
    }
}

static void print_args(struct printer *p, const struct pattern *pattern,
                       const struct pattern *scope)
{
    str_add(p->out, "(");
    for (int i = 0; i < pattern->n_args; i++) {
        str_add(p->out, i ? ", " : "");
        print_chain(p, pattern->args[i], scope, true);
    }
    if (pattern->any_args)
        str_add(p->out, pattern->n_args ? ", ..." : "...");
    str_add(p->out, ")");
}

/* "name=" where the operator would not be captured under this name anyway. */
static void print_op_name(struct printer *p, const struct pattern *pattern)
{
    const int n = p->names.n;

    if (p->no_names)
        return;
    if (pattern->capture && strcmp(names_own(&p->names, pattern->op), pattern->capture) != 0) {
        p->names.n = n;
        names_add(&p->names, pattern->capture);
        str_printf(p->out, "%s=", pattern->capture);
    }
}

static void print_op(struct printer *p, const struct pattern *pattern, const struct pattern *scope,
                     bool in_args)
{
    const bool is_op = pattern->kind == PAT_OP;
    const bool any = !is_op || op_row(pattern->op)->most_inputs != 1;

    if (is_op) {
        print_op_name(p, pattern);
        str_add(p->out, op_text_name(pattern->op));
    } else {
        if (pattern->capture) {
            str_printf(p->out, "%s=", pattern->capture);
            names_add(&p->names, pattern->capture);
        }
        str_printf(p->out, "@%s", op_class_name(pattern->op_class));
    }
    if (in_args || !scope || pattern->n_args != 1 || pattern->args[0] != scope ||
        pattern->any_args != any)
        print_args(p, pattern, scope);
    for (int i = 0; i < pattern->n_attrs; i++) {
        str_add(p->out, i ? ", " : "{");
        print_attr(p, pattern->op, &pattern->attrs[i]);
    }
    if (pattern->n_attrs)
        str_add(p->out, "}");
}

/* One of several alternatives, or what is optional. */
static void print_branch(struct printer *p, const struct pattern *branch,
                         const struct pattern *scope, bool in_args, bool alternatives_too)
{
    const struct pattern *previous = pattern_previous(branch);
    const bool is_chain =
        previous && previous != scope && branch != scope && !(is_start(previous) && !scope);
    const bool parentheses = is_chain || branch->kind == PAT_OPTIONAL ||
                             (branch->kind == PAT_ALTERNATIVE && alternatives_too &&
                              !branch->capture && !has_conditions(branch));

    if (parentheses)
        str_add(p->out, "(");
    print_chain(p, branch, scope, in_args && !parentheses);
    if (parentheses)
        str_add(p->out, ")");
}

static void print_alternatives(struct printer *p, const struct pattern *pattern,
                               const struct pattern *scope, bool in_args)
{
    const bool parentheses = pattern->capture || has_conditions(pattern);
    struct names all = { .arena = p->names.arena };
    const int n_outer = p->names.n;

    if (pattern->capture)
        str_printf(p->out, "%s=", pattern->capture);
    str_add(p->out, parentheses ? "(" : "");
    for (int i = 0; i < pattern->n_args; i++) {
        str_add(p->out, i ? "|" : "");
        print_branch(p, pattern->args[i], scope, in_args && !parentheses, true);
        for (int k = n_outer; k < p->names.n; k++)
            if (!names_has(&all, p->names.at[k]))
                names_add(&all, p->names.at[k]);
        p->names.n = n_outer;
    }
    for (int i = 0; i < all.n; i++)
        names_add(&p->names, all.at[i]);
    str_add(p->out, parentheses ? ")" : "");
    if (pattern->capture)
        names_add(&p->names, pattern->capture);
}

static void print_dominates(struct printer *p, const struct pattern *pattern,
                            const struct pattern *scope)
{
    const bool no_names = p->no_names;

    str_add(p->out, "dominates(");
    print_chain(p, pattern->args[0], scope, true);
    str_add(p->out, ", ");
    p->no_names = true;
    print_chain(p, pattern->args[1], NULL, false);
    p->no_names = no_names;
    str_add(p->out, ", ");
    print_chain(p, pattern->args[2], NULL, false);
    str_add(p->out, ")");
}

static void print_leaf(struct printer *p, const struct pattern *pattern, bool in_args)
{
    if (!pattern->capture) {
        str_add(p->out, "*");
        return;
    }
    names_add(&p->names, pattern->capture);
    str_printf(p->out, in_args ? "%s" : "%s=*", pattern->capture);
}

static void print_step(struct printer *p, const struct pattern *pattern,
                       const struct pattern *scope, bool in_args)
{
    switch (pattern->kind) {
    case PAT_WILDCARD:
    case PAT_CONSTANT:
    case PAT_VARIABLE: print_leaf(p, pattern, in_args); break;
    case PAT_OP:
    case PAT_OP_CLASS: print_op(p, pattern, scope, in_args); break;
    case PAT_ALTERNATIVE: print_alternatives(p, pattern, scope, in_args); break;
    case PAT_OPTIONAL:
        print_branch(p, pattern->args[0], scope, in_args, false);
        str_add(p->out, "?");
        break;
    case PAT_TUPLE:
        str_add(p->out, "tuple");
        print_args(p, pattern, scope);
        break;
    case PAT_TUPLE_GET:
        print_step(p, pattern->args[0], scope, in_args);
        str_printf(p->out, ".%d", pattern->index);
        break;
    case PAT_DOMINATES: print_dominates(p, pattern, scope); break;
    }
}

/* The pattern with what is before it in its chain, up to the scope, which is `_`. */
static void print_chain(struct printer *p, const struct pattern *pattern,
                        const struct pattern *scope, bool in_args)
{
    const struct pattern *previous = pattern_previous(pattern);
    const bool enclosed = pattern->kind == PAT_OPTIONAL && has_conditions(pattern);

    if (pattern == scope) {
        str_add(p->out, "_");
        return;
    }
    str_add(p->out, enclosed ? "(" : "");
    if (previous && previous != scope) {
        if (scope || !is_start(previous)) {
            print_chain(p, previous, scope, in_args && !enclosed);
            str_add(p->out, " -> ");
            in_args = false;
        }
        scope = previous;
    }
    print_step(p, pattern, scope, in_args && !enclosed);
    str_add(p->out, enclosed ? ")" : "");
    print_conditions(p, pattern);
}

void pattern_print(const struct pattern *pattern, struct str *out)
{
    struct printer printer = { .out = out, .names = { .arena = out->arena } };

    print_chain(&printer, pattern, NULL, false);
}
