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

/* --- inputs and outputs of the network -------------------------------------------------------- */

static struct value *absent_value(struct import *im)
{
    struct sequence *none = sequence_new(im, 0);

    none->is_absent = true;
    return &none->value;
}

static struct value *parameter(struct import *im, const char *name, const Onnx__TypeProto *declared)
{
    Onnx__ValueInfoProto info = ONNX__VALUE_INFO_PROTO__INIT;
    struct type type;

    info.name = arena_strdup(&im->arena, name);
    info.type = (Onnx__TypeProto *)(uintptr_t)declared;
    if (!limit_check(im->ctx, LIMIT_INTERFACE, NULL, im->module->main->n_params + 1) ||
        !import_declared_type(im, &info, &type))
        return NULL;
    return param_new(im->module->main, name, &type);
}

/* How many elements the options give shapes for. */
static int count_elements(struct import *im, const char *name)
{
    int n = 0;

    while (import_binding(im->options, arena_printf(&im->arena, "%s.%d", name, n)))
        n++;
    return n;
}

static bool refuse_unbound(struct import *im, const char *name)
{
    const char *safe = str_safe(&im->ctx->perm, name, 120);

    diag_error(im->ctx, DIAG_UNBOUND_DIM, NULL,
               "input \"%s\" is a sequence of which nobody says how many elements it has", safe);
    return diag_help(im->ctx,
                     "--shape %s.0=... --shape %s.1=..., with numbers, for each element; --shape "
                     "%s=none if it is empty",
                     safe, safe, safe),
           false;
}

struct value *import_collection(struct import *im, const char *name, const Onnx__TypeProto *type)
{
    const struct shape_binding *binding = import_binding(im->options, name);
    const bool is_none = binding && binding->rank < 0;
    struct sequence *sequence;
    int n;

    if (type && type->optional_type && is_none)
        return absent_value(im);
    if (type && type->optional_type)
        return import_collection(im, name, type->optional_type->elem_type);
    if (!type || !type->sequence_type)
        return parameter(im, name, type);
    n = is_none ? 0 : count_elements(im, name);
    if (n == 0 && !is_none) {
        refuse_unbound(im, name);
        return NULL;
    }
    sequence = sequence_new(im, n);
    for (int i = 0; i < n; i++) {
        sequence->at[i] = import_collection(im, arena_printf(&im->ctx->perm, "%s.%d", name, i),
                                            type->sequence_type->elem_type);
        if (!sequence->at[i])
            return NULL;
    }
    return &sequence->value;
}

bool import_result(struct import *im, struct value *value, const char *name)
{
    const struct sequence *sequence = sequence_of(value);

    if (!sequence) {
        result_add(im->module->main, value, name);
        return limit_check(im->ctx, LIMIT_INTERFACE, NULL, im->module->main->ret->n_inputs);
    }
    if (sequence->n == 0)
        return diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, NULL,
                          "the output \"%s\" is %s: there is nothing to give",
                          str_safe(&im->ctx->perm, name, 120),
                          sequence->is_absent ? "an optional without an element"
                                              : "an empty sequence");
    for (int i = 0; i < sequence->n; i++)
        if (!import_result(im, sequence->at[i], arena_printf(&im->ctx->perm, "%s.%d", name, i)))
            return false;
    return true;
}

/* --- If --------------------------------------------------------------------------------------- */

struct value *import_join_sequences(struct import *im, const char *name,
                                    const struct origin *origin, struct value *condition,
                                    const struct value *yes, const struct value *no)
{
    const struct sequence *a = sequence_of(yes), *b = sequence_of(no);
    struct sequence *joined;

    if (!a || !b || a->is_absent || b->is_absent || a->n != b->n)
        return NULL;
    joined = sequence_new(im, a->n);
    for (int i = 0; i < a->n; i++) {
        struct value *const inputs[] = { condition, a->at[i], b->at[i] };

        if (sequence_of(a->at[i]) || sequence_of(b->at[i]) ||
            a->at[i]->type.dtype != b->at[i]->type.dtype ||
            !type_same_shape(&a->at[i]->type, &b->at[i]->type))
            return NULL;
        joined->at[i] = build(im->module->main, OP_IF, NULL, name, origin, NULL, 3, inputs);
        if (!joined->at[i])
            return NULL;
    }
    return &joined->value;
}

/* --- nodes ------------------------------------------------------------------------------------ */

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
