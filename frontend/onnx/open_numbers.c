/* open_numbers.c - lists of integers (shapes, starts, ends) of which some elements are known at run time only. */
#include <math.h>

#include "frontend/onnx/open.h"
#include "relay_ir/range.h"

/* Greater ones are no bound. */
enum { MOST_ELEMENTS = 1 << 24 };

/* The operand that element *i of the value is in, with its place there; NULL: it is computed. */
static struct value *operand_of(struct onnx_node *node, const struct value *value, int64_t *i)
{
    const struct node *def = value->kind == VALUE_OUTPUT ? value->def : NULL;
    struct tensor indices;

    if (!def)
        return NULL;
    switch (def->op) {
    case OP_RESHAPE:
    case OP_EXPAND_DIMS:
    case OP_SQUEEZE:
    case OP_COPY: return def->inputs[0];
    case OP_CAST:
        return dtype_is_integer(def->inputs[0]->type.dtype) &&
                       dtype_bytes(value->type.dtype) >= dtype_bytes(def->inputs[0]->type.dtype)
                   ? def->inputs[0]
                   : NULL;
    case OP_CONCATENATE:
        for (int k = 0; value->type.rank == 1 && k < def->n_inputs; k++) {
            if (*i < def->inputs[k]->type.dim[0])
                return def->inputs[k];
            *i -= def->inputs[k]->type.dim[0];
        }
        return NULL;
    case OP_STRIDED_SLICE:
        if (value->type.rank != 1)
            return NULL;
        *i = def->attrs.slice.begin.at[0] + *i * def->attrs.slice.strides.at[0];
        return def->inputs[0];
    case OP_TAKE:
        if (def->inputs[0]->type.rank != 1 || !import_known(node->import, def->inputs[1], &indices))
            return NULL;
        *i = tensor_int_at(&indices, *i);
        *i += *i < 0 ? def->inputs[0]->type.dim[0] : 0;
        return *i >= 0 && *i < def->inputs[0]->type.dim[0] ? def->inputs[0] : NULL;
    default: return NULL;
    }
}

/* One i64: element i of the value. */
static struct value *element(struct onnx_node *node, struct value *value, int64_t i)
{
    const struct ints flat = { 1, { type_elements(&value->type) } };

    if (open_of_count(node->import, value))
        return value;
    value = cast_to(node, value, DTYPE_I64, "long");
    value = value ? reshape_to(node, value, &flat, "numbers") : NULL;
    return value ? slice_to(node, value, 0, i, 1, "number") : NULL;
}

static bool read_number(struct onnx_node *node, struct value *value, int64_t i,
                        struct open_number *out)
{
    struct range range;
    struct tensor known;

    for (int steps = 0; steps < 64; steps++) {
        const struct open_length *length = open_of_count(node->import, value);
        int64_t at = i;
        struct value *operand;

        if (import_known(node->import, value, &known)) {
            *out = (struct open_number){ .is_known = true, .number = tensor_int_at(&known, i) };
            return true;
        }
        operand = length ? NULL : operand_of(node, value, &at);
        if (!operand)
            break;
        value = operand;
        i = at;
    }
    *out = (struct open_number){ .number = -1 };
    if (open_of_count(node->import, value))
        out->number = open_of_count(node->import, value)->most;
    else if (range_of_value(value, NULL, &range) && range.high <= MOST_ELEMENTS)
        out->number = range.high > 0 ? (int64_t)range.high : 0;
    out->value = element(node, value, i);
    return out->value != NULL;
}

bool open_range(struct onnx_node *node, struct value *value, double *low, double *high)
{
    const struct open_length *length;
    struct range range = { 0, 0 };
    struct tensor known;
    int64_t i = 0;

    for (int steps = 0; steps < 64; steps++) {
        const bool was_integer = value->kind == VALUE_OUTPUT && value->def->op == OP_CAST &&
                                 dtype_is_float(value->type.dtype);
        struct value *operand = was_integer ? value->def->inputs[0] : operand_of(node, value, &i);

        if (import_known(node->import, value, &known)) {
            *low = *high = tensor_at(&known, i);
            return isfinite(*low);
        }
        if (!operand || open_of_count(node->import, value))
            break;
        value = operand;
    }
    length = open_of_count(node->import, value);
    if (length)
        range.high = length->most;
    else if (!range_of_value(value, NULL, &range))
        return false;
    *low = (double)range.low;
    *high = (double)range.high;
    return true;
}

bool open_numbers(struct onnx_node *node, int input, struct open_number *numbers, int *n)
{
    struct value *value = onnx_input(node, input);
    const int64_t count = value ? type_elements(&value->type) : 0;

    *n = 0;
    if (count > MAX_RANK || (value && value->type.rank > 1) ||
        (value && !onnx_check_kind(node, input, TAKES_INTEGER)))
        return onnx_undeclared(node, input);
    while (*n < count) {
        if (!read_number(node, value, *n, &numbers[*n]))
            return false;
        ++*n;
    }
    return true;
}

struct open_length *open_of_number(struct onnx_node *node, const struct open_number *number)
{
    struct open_length *length = open_of_count(node->import, number->value);
    struct value *zero;

    if (length || number->number < 0)
        return length;
    zero = open_int(node, 0);
    return open_new(node, apply2(node, OP_MAXIMUM, "at_least_0", number->value, zero),
                    number->number);
}
