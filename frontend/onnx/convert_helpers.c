#include "frontend/onnx/convert_helpers.h"

#include <assert.h>

bool onnx_check_inputs(struct onnx_node *node, int least, int most)
{
    bool ok = true;

    if (most >= 0 && node->n_inputs > most)
        ok = diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                        "the node has %d inputs, %s takes at most %d at opset %lld", node->n_inputs,
                        node->op_type, most, (long long)node->opset);
    for (int i = 0; i < least; i++)
        if (!onnx_input(node, i))
            ok = diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                            "input %d is missing, %s needs %d", i, node->op_type, least);
    return ok;
}

static const char *kinds_text(int kinds)
{
    static const char *const texts[] = {
        "nothing", "a floating-point type",         "an integer type",    "a number type",
        "bool",    "a floating-point type or bool", "an integer or bool", "any type",
    };

    return texts[kinds & TAKES_ANY];
}

static int kind_of(enum dtype dtype)
{
    if (dtype_is_float(dtype))
        return TAKES_FLOAT;
    if (dtype_is_integer(dtype))
        return TAKES_INTEGER;
    return dtype_kind(dtype) == KIND_BOOL ? TAKES_BOOL : 0;
}

bool onnx_check_kind(struct onnx_node *node, int i, int kinds)
{
    const struct value *x = onnx_input(node, i);

    if (!x || kind_of(x->type.dtype) & kinds)
        return true;
    return diag_error(node->ctx, DIAG_TYPE, node->origin, "input %d is %s, %s takes %s there", i,
                      dtype_name(x->type.dtype), node->op_type, kinds_text(kinds));
}

bool onnx_check_rank(struct onnx_node *node, int i, int least, int most)
{
    const struct value *x = onnx_input(node, i);

    if (!x || (x->type.rank >= least && x->type.rank <= most))
        return true;
    if (least == most)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input %d has shape %s, %s takes %d dimensions there", i,
                          shape_text(&node->ctx->perm, &x->type), node->op_type, least);
    return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                      "input %d has shape %s, relayc takes %d to %d dimensions there", i,
                      shape_text(&node->ctx->perm, &x->type), least, most);
}

bool bad_attribute(struct onnx_node *node, const char *format, ...)
{
    va_list args;
    const char *message;

    va_start(args, format);
    message = arena_vprintf(&node->ctx->perm, format, args);
    va_end(args);
    return diag_error(node->ctx, DIAG_ONNX_ATTRIBUTE, node->origin, "%s", message);
}

bool wants_output(const struct onnx_node *node, int i)
{
    return i < node->n_outputs && node->output_names[i][0] != '\0';
}

const char *output_stem(const struct onnx_node *node)
{
    return wants_output(node, 0) ? node->output_names[0] : node->op_type;
}

int normal_axis(struct onnx_node *node, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank)
        return (int)(axis < 0 ? axis + rank : axis);
    if (rank == 0)
        bad_attribute(node, "axis is %lld, but the tensor is a scalar", (long long)axis);
    else
        bad_attribute(node, "axis is %lld, wanted %d to %d", (long long)axis, -rank, rank - 1);
    return -1;
}

int normal_axis_attr(struct onnx_node *node, int64_t missing, int rank)
{
    int64_t axis = onnx_int(node, "axis", missing);

    return onnx_ok(node) ? normal_axis(node, axis, rank) : -1;
}

bool normal_axes(struct onnx_node *node, struct ints *axes, int rank)
{
    bool has[MAX_RANK + 1] = { false };
    int n = 0;

    assert(rank <= MAX_RANK + 1);
    for (int i = 0; i < axes->n; i++) {
        int axis = normal_axis(node, axes->at[i], rank);

        if (axis < 0)
            return false;
        if (has[axis])
            return bad_attribute(node, "axis %d is given twice", axis);
        has[axis] = true;
    }
    for (int axis = 0; axis < rank && axis <= MAX_RANK; axis++)
        if (has[axis])
            axes->at[n++] = axis;
    return true;
}

bool list_of(struct onnx_node *node, const char *attr, int input, struct ints *out, bool *given)
{
    *out = ints_fill(0, 0);
    *given = false;
    if (onnx_has(node, attr)) {
        *out = onnx_ints(node, attr);
        *given = true;
        return onnx_ok(node);
    }
    if (!onnx_input(node, input))
        return true;
    *given = true;
    return onnx_constant_ints(node, input, out);
}

bool onnx_whole_number(struct onnx_node *node, int i, int64_t least, int64_t most, int64_t *out)
{
    struct ints number;

    if (!onnx_constant_ints(node, i, &number))
        return false;
    if (number.n != 1 || number.at[0] < least || number.at[0] > most)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input %d must be one number from %lld to %lld", i, (long long)least,
                          (long long)most);
    *out = number.at[0];
    return true;
}

struct ints ints_of_shape(const struct type *type)
{
    return ints_of(type->rank, type->dim);
}

struct value *apply1(struct onnx_node *node, enum op op, const char *suffix, struct value *x)
{
    return x ? onnx_build1(node, op, NULL, suffix, x) : NULL;
}

struct value *apply2(struct onnx_node *node, enum op op, const char *suffix, struct value *a,
                     struct value *b)
{
    return a && b ? onnx_build2(node, op, NULL, suffix, a, b) : NULL;
}

struct value *cast_to(struct onnx_node *node, struct value *x, enum dtype dtype, const char *suffix)
{
    union attrs attrs = { .cast = { .dtype = dtype, .saturate = true } };

    if (!x || x->type.dtype == dtype)
        return x;
    return onnx_build1(node, OP_CAST, &attrs, suffix, x);
}

struct value *reshape_to(struct onnx_node *node, struct value *x, const struct ints *shape,
                         const char *suffix)
{
    union attrs attrs = { .shape = { .shape = *shape } };
    struct ints old;

    if (!x)
        return NULL;
    old = ints_of_shape(&x->type);
    if (*suffix && ints_equal(&old, shape))
        return x;
    return onnx_build1(node, OP_RESHAPE, &attrs, suffix, x);
}

struct value *transpose_to(struct onnx_node *node, struct value *x, const struct ints *axes,
                           const char *suffix)
{
    union attrs attrs = { .axes = { .axes = *axes } };
    bool moves = false;

    for (int i = 0; i < axes->n; i++)
        moves = moves || axes->at[i] != i;
    if (!x || (*suffix && !moves))
        return x;
    return onnx_build1(node, OP_TRANSPOSE, &attrs, suffix, x);
}

struct value *concat_with(struct onnx_node *node, int axis, struct value *a, struct value *b,
                          const char *suffix)
{
    const union attrs attrs = { .axis = { .axis = axis } };

    return a && b ? onnx_build2(node, OP_CONCATENATE, &attrs, suffix, a, b) : NULL;
}

struct value *reduce_with(struct onnx_node *node, enum op op, struct value *x,
                          const struct ints *axes, bool keepdims, const char *suffix)
{
    union attrs attrs = { .reduce = { .axis = *axes, .keepdims = keepdims } };

    return x ? onnx_build1(node, op, &attrs, suffix, x) : NULL;
}

struct value *scalar_like(struct onnx_node *node, const struct value *x, double number,
                          const char *suffix)
{
    return x ? onnx_scalar(node, x->type.dtype, number, suffix) : NULL;
}

struct value *full_of(struct onnx_node *node, enum dtype dtype, double number,
                      const struct ints *shape, const char *suffix)
{
    union attrs attrs = { .shape = { .shape = *shape } };
    struct value *scalar = onnx_scalar(node, dtype, number, "fill");

    return scalar ? onnx_build1(node, OP_BROADCAST_TO, &attrs, suffix, scalar) : NULL;
}

struct node *build_node(struct onnx_node *node, enum op op, const union attrs *attrs, int n_inputs,
                        struct value *const *inputs, int n_outputs)
{
    const char **names = arena_array(&node->ctx->perm, const char *, n_outputs);
    struct node_args args = { .op = op,
                              .n_inputs = n_inputs,
                              .inputs = inputs,
                              .n_outputs = n_outputs,
                              .names = names,
                              .attrs = attrs,
                              .origin = node->origin };

    for (int i = 0; i < n_outputs; i++)
        names[i] = wants_output(node, i)
                       ? node->output_names[i]
                       : arena_printf(&node->ctx->perm, "%s.unused%d", op_name(op), i);
    return node_new(node->fn, &args);
}

bool output_node(struct onnx_node *node, enum op op, const union attrs *attrs, int n_inputs,
                 struct value *const *inputs, int n_outputs)
{
    const struct node *built = build_node(node, op, attrs, n_inputs, inputs, n_outputs);
    bool ok = built != NULL;

    for (int i = 0; built && i < n_outputs && i < node->n_outputs; i++)
        ok = onnx_output(node, i, built->outputs[i]) && ok;
    return ok;
}

struct value *onnx_inner(struct onnx_node *node, onnx_converter *converter, int arg, int64_t opset,
                         int n_inputs, struct value *const *inputs, const char *suffix)
{
    const char *name = output_stem(node);
    const char *names[] = { *suffix ? arena_printf(&node->ctx->perm, "%s:%s", name, suffix)
                                    : name };
    struct value *result = NULL;
    struct onnx_node inner = *node;

    inner.arg = arg;
    inner.opset = opset;
    inner.inputs = arena_array(&node->ctx->perm, struct value *, n_inputs);
    for (int i = 0; i < n_inputs; i++)
        inner.inputs[i] = inputs[i];
    while (n_inputs && !inputs[n_inputs - 1])
        n_inputs--;
    inner.n_inputs = n_inputs;
    inner.n_outputs = 1;
    inner.output_names = names;
    inner.outputs = &result;
    return converter(&inner) ? result : NULL;
}

struct value *slice_to(struct onnx_node *node, struct value *x, int axis, int64_t begin,
                       int64_t size, const char *suffix)
{
    union attrs attrs;

    if (!x || (begin == 0 && size == x->type.dim[axis]))
        return x;
    attrs = (union attrs){ .slice = { .begin = ints_fill(x->type.rank, 0),
                                      .strides = ints_fill(x->type.rank, 1),
                                      .size = ints_of_shape(&x->type) } };
    attrs.slice.begin.at[axis] = begin;
    attrs.slice.size.at[axis] = size;
    return onnx_build1(node, OP_STRIDED_SLICE, &attrs, suffix, x);
}

/* `left`: values to look at, as concatenations of concatenations have any number. */
static bool static_within(const struct value *value, int depth, int *left)
{
    if (value->kind == VALUE_CONSTANT)
        return true;
    if (value->kind != VALUE_OUTPUT || depth == 0 || --*left < 0)
        return false;
    for (int i = 0; i < value->def->n_inputs; i++)
        if (value->def->inputs[i] && !static_within(value->def->inputs[i], depth - 1, left))
            return false;
    return true;
}

bool is_static(const struct value *value)
{
    int left = 10000;

    return static_within(value, 4,
                         &left); /* Identity, Cast, Reshape, Transpose in front of weights */
}
