#include "relay_ir/range.h"

#include <math.h>

enum { MOST_ELEMENTS = 1024, MOST_STEPS = 5000, MOST_TERMS = 16 };

struct walker {
    const struct premise *premise;
    int steps;
};

static const char *key_of(struct arena *arena, const struct value *value)
{
    return arena_printf(arena, "%p", (const void *)value);
}

void premise_add(struct premise *premise, const struct value *truth)
{
    map_set(&premise->truths, key_of(premise->truths.arena, truth), premise);
}

static bool is_premise(const struct premise *premise, const struct value *truth)
{
    char key[32];

    if (!premise || premise->truths.n == 0)
        return false;
    snprintf(key, sizeof key, "%p", (const void *)truth);
    return map_get(&premise->truths, key) != NULL;
}

static struct range of_type(const struct value *value)
{
    return (struct range){ dtype_least(value->type.dtype), dtype_greatest(value->type.dtype) };
}

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static wide greatest(wide a, wide b)
{
    return a > b ? a : b;
}

static struct range join(struct range a, struct range b)
{
    return (struct range){ least(a.low, b.low), greatest(a.high, b.high) };
}

static struct range of_payload(const struct value *value)
{
    const struct tensor tensor = value_tensor(value);
    const int64_t n = type_elements(&value->type);
    struct range range = { 0, 0 };

    if (n > MOST_ELEMENTS)
        return of_type(value);
    for (int64_t i = 0; i < n; i++) {
        const wide number = tensor_wide_at(&tensor, i);

        range =
            i ? join(range, (struct range){ number, number }) : (struct range){ number, number };
    }
    return range;
}

static bool is_small(struct range a)
{
    const wide most = (wide)1 << 62;

    return a.low >= -most && a.high <= most;
}

/* Of factors that are small. */
static struct range of_product(struct range a, struct range b)
{
    const wide corners[] = { a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high };
    struct range range = { corners[0], corners[0] };

    for (int i = 1; i < 4; i++)
        range = join(range, (struct range){ corners[i], corners[i] });
    return range;
}

/* low if the comparison may be false, high if it may be true. */
static struct range truth(bool always, bool never)
{
    return (struct range){ always, !never };
}

static struct range compared(enum op op, struct range a, struct range b)
{
    switch (op) {
    case OP_LESS: return truth(a.high < b.low, a.low >= b.high);
    case OP_LESS_EQUAL: return truth(a.high <= b.low, a.low > b.high);
    case OP_GREATER: return truth(a.low > b.high, a.high <= b.low);
    case OP_GREATER_EQUAL: return truth(a.low >= b.high, a.high < b.low);
    case OP_EQUAL:
        return truth(a.low == a.high && b.low == b.high && a.low == b.low,
                     a.high < b.low || a.low > b.high);
    default: /* OP_NOT_EQUAL */
        return truth(a.high < b.low || a.low > b.high,
                     a.low == a.high && b.low == b.high && a.low == b.low);
    }
}

/* Bounds of clip are floats, maybe infinite or beyond the type. */
static struct range clipped(struct range x, double low, double high)
{
    if (low > -1e18 && low < 1e18)
        x = (struct range){ greatest(x.low, (wide)ceil(low)), greatest(x.high, (wide)ceil(low)) };
    if (high > -1e18 && high < 1e18)
        x = (struct range){ least(x.low, (wide)floor(high)), least(x.high, (wide)floor(high)) };
    return x;
}

static bool is_integer(const struct value *value)
{
    return value && (dtype_is_integer(value->type.dtype) || value->type.dtype == DTYPE_BOOL);
}

static struct range find(struct walker *w, const struct value *value);

/* What the node computes, before it wraps around; false: nothing better than its type is known. */
static bool of_node(struct walker *w, const struct node *node, struct range *range)
{
    const struct value *const *in = (const struct value *const *)node->inputs;
    const union attrs *attrs = &node->attrs;
    const int first = node->op == OP_WHERE || node->op == OP_IF ? 1 : 0;
    struct range a, b;

    if (node->op == OP_ARGMAX || node->op == OP_ARGMIN) {
        const int64_t axis = attrs->arg.axis + (attrs->arg.axis < 0 ? in[0]->type.rank : 0);

        *range = (struct range){ 0, greatest(in[0]->type.dim[axis] - 1, 0) };
        return true;
    }
    if (node->n_inputs <= first || !is_integer(in[first]) ||
        (node->n_inputs > first + 1 && in[first + 1] && !is_integer(in[first + 1])))
        return false;
    if (node->op == OP_IF && is_premise(w->premise, in[0])) {
        *range = find(w, in[1]);
        return true;
    }
    switch (node->op) {
    case OP_BROADCAST_TO:
    case OP_CAST:
    case OP_COPY:
    case OP_EXPAND_DIMS:
    case OP_EXPECT:
    case OP_MAX:
    case OP_MIN:
    case OP_RESHAPE:
    case OP_SQUEEZE:
    case OP_STRIDED_SLICE:
    case OP_TRANSPOSE: *range = find(w, in[0]); return true;
    case OP_CLIP:
        *range = clipped(find(w, in[0]), attrs->clip.a_min, attrs->clip.a_max);
        return true;
    case OP_LOGICAL_NOT:
        a = find(w, in[0]);
        *range = (struct range){ 1 - a.high, 1 - a.low };
        return true;
    case OP_NEGATIVE:
        a = find(w, in[0]);
        *range = (struct range){ -a.high, -a.low };
        return true;
    default: break;
    }
    if (node->n_inputs != first + 2)
        return false;
    switch (node->op) {
    case OP_ADD:
    case OP_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
    case OP_IF:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_LOGICAL_AND:
    case OP_LOGICAL_OR:
    case OP_MAXIMUM:
    case OP_MINIMUM:
    case OP_MULTIPLY:
    case OP_NOT_EQUAL:
    case OP_SUBTRACT:
    case OP_WHERE: break;
    default: return false;
    }
    a = find(w, in[first]);
    b = find(w, in[first + 1]);
    switch (node->op) {
    case OP_ADD: *range = (struct range){ a.low + b.low, a.high + b.high }; break;
    case OP_SUBTRACT: *range = (struct range){ a.low - b.high, a.high - b.low }; break;
    case OP_MULTIPLY:
        if (!is_small(a) || !is_small(b))
            return false;
        *range = of_product(a, b);
        break;
    case OP_LOGICAL_AND:
    case OP_MINIMUM: *range = (struct range){ least(a.low, b.low), least(a.high, b.high) }; break;
    case OP_LOGICAL_OR:
    case OP_MAXIMUM:
        *range = (struct range){ greatest(a.low, b.low), greatest(a.high, b.high) };
        break;
    case OP_IF:
    case OP_WHERE: *range = join(a, b); break;
    default: *range = compared(node->op, a, b); break;
    }
    return true;
}

static struct range find(struct walker *w, const struct value *value)
{
    const struct range all = of_type(value);
    struct range range;

    if (value->kind == VALUE_CONSTANT)
        return of_payload(value);
    if (value->kind != VALUE_OUTPUT || --w->steps < 0 || !of_node(w, value->def, &range) ||
        range.low < all.low || range.high > all.high)
        return all;
    return range;
}

bool range_of_value(const struct value *value, const struct premise *premise, struct range *range)
{
    struct walker walker = { .premise = premise, .steps = MOST_STEPS };

    if (!is_integer(value))
        return false;
    *range = find(&walker, value);
    return true;
}

/* By how much the ranges of a comparison overlap, where it could be true; 0 = it is false. */
static wide overlap(const struct node *node, const struct premise *premise)
{
    struct range a, b;

    if (!range_of_value(node->inputs[0], premise, &a) ||
        !range_of_value(node->inputs[1], premise, &b))
        return -1;
    switch (node->op) {
    case OP_LESS: return greatest(b.high - a.low, 0);
    case OP_LESS_EQUAL: return greatest(b.high - a.low + 1, 0);
    case OP_GREATER: return greatest(a.high - b.low, 0);
    default: return greatest(a.high - b.low + 1, 0); /* OP_GREATER_EQUAL */
    }
}

static wide distance(const struct value *condition, const struct premise *premise, int *steps)
{
    const struct node *node = condition->kind == VALUE_OUTPUT ? condition->def : NULL;
    wide a, b;

    if (!node || --*steps < 0)
        return -1;
    switch (node->op) {
    case OP_RESHAPE: return distance(node->inputs[0], premise, steps);
    case OP_GREATER:
    case OP_GREATER_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL: return overlap(node, premise);
    case OP_LOGICAL_AND:
        a = distance(node->inputs[0], premise, steps);
        b = distance(node->inputs[1], premise, steps);
        return a < 0 || (b >= 0 && b < a) ? b : a;
    default: return -1;
    }
}

wide range_to_false(const struct value *condition, const struct premise *premise)
{
    int steps = MOST_TERMS;

    return distance(condition, premise, &steps);
}
