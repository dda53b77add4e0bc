/* match_scope.c - what expressions can say about a match. */
#include <math.h>
#include <string.h>

#include "partition/match_search.h"
#include "relay_ir/macs.h"

struct match_names {
    struct arena *arena;
    const struct pattern *pattern;
    const struct match *match;
};

static const char no_attribute[] = "is not an attribute of this operator";

static bool give_int(struct term *out, int64_t integer)
{
    *out = (struct term){ .kind = TERM_INT, .integer = integer };
    return true;
}

static bool give_text(struct term *out, const char *text)
{
    *out = (struct term){ .kind = TERM_TEXT, .text = text };
    return true;
}

static bool give_ints(struct term *out, const struct ints *ints)
{
    *out = (struct term){ .kind = TERM_INTS, .ints = *ints };
    return true;
}

static bool read_attr(const struct attr_field *field, const void *at, struct term *out,
                      const char **why)
{
    switch (field->kind) {
    case ATTR_BOOL: return give_int(out, *(const bool *)at);
    case ATTR_INT: return give_int(out, *(const int64_t *)at);
    case ATTR_DTYPE: return give_text(out, dtype_name(*(const enum dtype *)at));
    case ATTR_WORD: return give_text(out, *(const char *const *)at ? *(const char *const *)at : "");
    case ATTR_INTS: return give_ints(out, at);
    case ATTR_REAL:
        *out = (struct term){ .kind = TERM_REAL, .real = *(const double *)at };
        return true;
    case ATTR_REALS:
        *why = "is a list of real numbers, which expressions do not have";
        return false;
    }
    return false;
}

bool node_attr(const struct node *node, const char *name, struct term *out, const char **why)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return read_attr(&schema->fields[i],
                             (const char *)&node->attrs + schema->fields[i].offset, out, why);
    *why = no_attribute;
    return false;
}

static bool give_number(enum dtype dtype, const void *data, int64_t index, struct term *out)
{
    if (dtype_is_integer(dtype) && dtype != DTYPE_U64)
        return give_int(out, dtype_load_int(dtype, data, index));
    if (dtype_kind(dtype) == KIND_BOOL)
        return give_int(out, dtype_load(dtype, data, index) != 0);
    *out = (struct term){ .kind = TERM_REAL, .real = dtype_load(dtype, data, index) };
    return true;
}

static bool is_less(const struct term *a, const struct term *b)
{
    return a->kind == TERM_INT ? a->integer < b->integer : a->real < b->real;
}

/* value, min, max */
static bool constant_field(const struct value *value, const char *field, struct term *out,
                           const char **why)
{
    const int64_t n = type_elements(&value->type);
    struct term least, greatest, term;

    if (value->kind != VALUE_CONSTANT) {
        *why = "it is not a constant";
        return false;
    }
    if (n == 0) {
        *why = "it has no elements";
        return false;
    }
    give_number(value->type.dtype, value->data, 0, &least);
    greatest = least;
    for (int64_t i = 0; i < n; i++) {
        give_number(value->type.dtype, value->data, i, &term);
        if (term.kind == TERM_REAL && isnan(term.real)) {
            *why = "one of its elements is not a number";
            return false;
        }
        least = is_less(&term, &least) ? term : least;
        greatest = is_less(&greatest, &term) ? term : greatest;
    }
    *out = strcmp(field, "max") == 0 ? greatest : least;
    if (strcmp(field, "value") == 0 && is_less(&least, &greatest)) {
        *why = "its elements are not all equal";
        return false;
    }
    return true;
}

static bool value_field(const struct value *value, const char *field, struct term *out,
                        const char **why)
{
    const struct type *type = &value->type;
    const struct ints shape = ints_of(type->rank, type->dim);

    if (strcmp(field, "dtype") == 0)
        return give_text(out, dtype_name(type->dtype));
    if (strcmp(field, "rank") == 0)
        return give_int(out, type->rank);
    if (strcmp(field, "shape") == 0 || strcmp(field, "dim") == 0)
        return give_ints(out, &shape);
    if (strcmp(field, "elements") == 0)
        return give_int(out, type_elements(type));
    if (strcmp(field, "bytes") == 0)
        return give_int(out, (int64_t)type_bytes(type));
    if (strcmp(field, "const") == 0)
        return give_int(out, value->kind == VALUE_CONSTANT);
    if (strcmp(field, "value") == 0 || strcmp(field, "min") == 0 || strcmp(field, "max") == 0)
        return constant_field(value, field, out, why);
    *why = "there is no such field";
    return false;
}

static bool node_field(const struct node *node, const struct value *value, const char *field,
                       struct term *out, const char **why)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++)
        if (strcmp(schema->fields[i].name, field) == 0)
            return node_attr(node, field, out, why);
    if (strcmp(field, "op") == 0)
        return give_text(out, op_text_name(node->op));
    return value_field(value, field, out, why);
}

/* --- of the whole match ----------------------------------------------------------------------- */

static bool is_inside(const struct match *match, const struct node *node)
{
    for (int i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == node)
            return true;
    return false;
}

/* Whether an input of a node was read by a node before it, or by this one before. */
static bool was_read(const struct match *match, int node, int input)
{
    const struct value *value = match->nodes[node]->inputs[input];

    for (int i = 0; i <= node; i++)
        for (int k = 0; k < (i < node ? match->nodes[i]->n_inputs : input); k++)
            if (match->nodes[i]->inputs[k] == value)
                return true;
    return false;
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Bytes of the distinct values that come from outside, constants or others. */
static int64_t bytes_read(const struct match *match, bool constants)
{
    int64_t bytes = 0;

    for (int i = 0; i < match->n_nodes; i++)
        for (int k = 0; k < match->nodes[i]->n_inputs; k++) {
            const struct value *value = match->nodes[i]->inputs[k];

            if (value && (value->kind == VALUE_CONSTANT) == constants &&
                !(value->def && is_inside(match, value->def)) && !was_read(match, i, k))
                bytes = add(bytes, (int64_t)type_bytes(&value->type));
        }
    return bytes;
}

static bool whole_field(const struct match *match, const char *name, struct term *out)
{
    int64_t sum = 0;

    if (strcmp(name, "nodes") == 0)
        return give_int(out, match->n_nodes);
    if (strcmp(name, "weight_bytes") == 0 || strcmp(name, "input_bytes") == 0)
        return give_int(out, bytes_read(match, *name == 'w'));
    if (strcmp(name, "macs") == 0) {
        for (int i = 0; i < match->n_nodes; i++)
            sum = add(sum, node_macs(match->nodes[i]));
        return give_int(out, sum);
    }
    if (strcmp(name, "output_bytes") == 0) {
        for (int i = 0; i < match->root->n_outputs; i++)
            sum = add(sum, (int64_t)type_bytes(&match->root->outputs[i]->type));
        return give_int(out, sum);
    }
    return false;
}

/* As node_field; but what only other alternatives of the capture have is absent. */
static bool captured_field(const struct match_names *names, const char *name,
                           const struct node *node, const char *field, struct term *out,
                           const char **why)
{
    const char *unknown = NULL;
    struct term term;

    if (node_field(node, node->outputs[0], field, out, why))
        return true;
    if (node_attr(node, field, &term, &unknown) || unknown != no_attribute ||
        !pattern_knows(names->pattern, name, field))
        return false;
    *out = (struct term){ .kind = TERM_ABSENT };
    return true;
}

static bool look_up(void *user, const char *name, const char *field, struct term *out,
                    const char **why)
{
    const struct match_names *names = user;
    const struct capture *capture = match_capture(names->match, name);

    *why = field ? "there is no such name" : NULL;
    if (capture && !field)
        return give_text(out, name);
    if (capture && capture->node)
        return captured_field(names, name, capture->node, field, out, why);
    if (capture && !capture->value)
        capture = NULL;
    if (capture)
        return value_field(capture->value, field, out, why);
    if (strcmp(name, "out") == 0 && field)
        return captured_field(names, name, names->match->root, field, out, why);
    if (!field && whole_field(names->match, name, out))
        return true;
    if (!pattern_knows(names->pattern, name, NULL))
        return false;
    if (field)
        *why = "there is no such field";
    *out = (struct term){ .kind = TERM_ABSENT };
    return !field || pattern_knows(names->pattern, name, field);
}

struct scope match_scope(struct arena *arena, const struct pattern *pattern,
                         const struct match *match)
{
    struct match_names *names = arena_new(arena, struct match_names);

    *names = (struct match_names){ arena, pattern, match };
    return (struct scope){ .look_up = look_up, .user = names };
}
