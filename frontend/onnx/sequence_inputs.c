/* sequence_inputs.c - see sequences.h: what nodes of sequences read, and how their results are bound. */
#include "frontend/onnx/sequences.h"

#include "base/str.h"

static const char mark[] = "\1sequence"; /* by its address: the name of no tensor */

struct sequence *sequence_of(const struct value *value)
{
    return value && value->name == mark ? (struct sequence *)(void *)(uintptr_t)value : NULL;
}

bool import_is_sequence(const struct value *value)
{
    return sequence_of(value) != NULL;
}

struct sequence *sequence_new(struct import *im, int n)
{
    struct sequence *sequence = arena_new(&im->arena, struct sequence);

    *sequence = (struct sequence){ .value = { .name = mark },
                                   .n = n,
                                   .at = arena_array(&im->arena, struct value *, n + 1) };
    return sequence;
}

enum { MOST_INPUTS = 3 };

bool reading_inputs(struct reading *r, size_t least)
{
    const size_t n = r->proto->n_input;

    r->inputs = arena_array(&r->im->arena, struct value *, n + MOST_INPUTS);
    if (n < least || r->proto->n_output != 1)
        return diag_error(r->im->ctx, DIAG_ONNX_GRAPH, r->origin,
                          "it has %zu inputs and %zu outputs, expected %zu or more and 1", n,
                          r->proto->n_output, least);
    return import_operands(r->im, r->scope, r->proto, r->origin, r->inputs);
}

bool reading_bind(const struct reading *r, struct value *value)
{
    if (value)
        scope_bind(r->im, r->scope, r->proto->output[0], value);
    return value != NULL;
}

bool reading_bind_number(const struct reading *r, enum dtype dtype, int64_t number)
{
    const struct type type = { .dtype = dtype };
    struct tensor tensor = tensor_new(&r->im->module->bulk, &type);

    if (dtype == DTYPE_BOOL)
        *(uint8_t *)tensor.data = number != 0;
    else
        *(int64_t *)tensor.data = number;
    return reading_bind(r,
                        constant_new(r->im->module->main, r->proto->output[0], &type, tensor.data));
}

struct sequence *reading_sequence(const struct reading *r)
{
    struct sequence *sequence = sequence_of(r->inputs[0]);

    if (sequence && !sequence->is_absent)
        return sequence;
    diag_error(r->im->ctx, DIAG_TYPE, r->origin, "input 0 is %s, expected a sequence",
               sequence       ? "an optional without an element"
               : r->inputs[0] ? "a tensor"
                              : "absent");
    return NULL;
}

struct value *reading_tensor(const struct reading *r, size_t i)
{
    if (r->inputs[i] && !sequence_of(r->inputs[i]))
        return r->inputs[i];
    diag_error(r->im->ctx, DIAG_TYPE, r->origin, "input %zu is %s, expected a tensor", i,
               r->inputs[i] ? "a sequence" : "absent");
    return NULL;
}

bool reading_known(const struct reading *r, size_t i, const char *what, struct tensor *out)
{
    const struct value *value = reading_tensor(r, i);

    if (!value)
        return false;
    if (import_known(r->im, value, out))
        return true;
    diag_error(r->im->ctx, DIAG_UNSUPPORTED_DYNAMIC, r->origin, "%s is computed at run time", what);
    import_help_freeze(r->im, value);
    return false;
}

bool reading_position(const struct reading *r, size_t i, int n, int last, int *at)
{
    struct tensor known;
    double index;

    *at = last;
    if (!r->inputs[i])
        return true;
    if (!reading_known(r, i, "the position", &known))
        return false;
    index = type_elements(&known.type) == 1 ? tensor_at(&known, 0) : last + 1;
    if (index < -n || index > last)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin,
                          "the position %g is outside a sequence of %d elements", index, n);
    *at = (int)(index < 0 ? index + n : index);
    return true;
}

int64_t reading_number(const struct reading *r, const char *name, int64_t missing)
{
    const Onnx__AttributeProto *attr = attribute_find(r->proto, name);

    return attr ? attr->i : missing;
}

bool reading_axis(const struct reading *r, int64_t missing, int rank, int *axis)
{
    const int64_t given = reading_number(r, "axis", missing);

    if (given < -rank || given >= rank)
        return diag_error(r->im->ctx, DIAG_SHAPE, r->origin, "the axis %lld of a tensor of %d dims",
                          (long long)given, rank);
    *axis = (int)(given < 0 ? given + rank : given);
    return true;
}

struct value *reading_make(const struct reading *r, enum op op, const union attrs *attrs, int n,
                           struct value *const *inputs)
{
    return build(r->im->module->main, op, attrs, r->proto->output[0], r->origin, NULL, n, inputs);
}
