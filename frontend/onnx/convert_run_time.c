/* convert_run_time.c - Slice, Pad, Range and Trilu with numbers that are known at run time only. The
 * file declares the shape of the result (onnx_declared). */
#include "frontend/onnx/convert_helpers.h"
#include "relay_ir/ops/run_time.h"

bool onnx_undeclared(struct onnx_node *node, int i)
{
    struct tensor tensor;

    if (!onnx_constant(node, i, &tensor))
        diag_help(node->ctx, "or declare the shape of the result in the file, in numbers "
                             "(onnx.shape_inference.infer_shapes may find it): then this input is "
                             "checked at run time");
    return false;
}

/* The first of these inputs that is not known; -1 = none. */
static int unknown_input(struct onnx_node *node, int first, int last)
{
    for (int i = first; i <= last; i++)
        if (!onnx_is_known(node, i))
            return i;
    return -1;
}

bool numbers_are_known(struct onnx_node *node, int first, int last)
{
    return unknown_input(node, first, last) < 0;
}

/* Input i as a list of i64, or these numbers where it is absent. */
static struct value *list_or(struct onnx_node *node, int i, const struct ints *missing,
                             const char *suffix)
{
    return onnx_input(node, i) ? onnx_numbers(node, i, suffix)
                               : onnx_from_ints(node, missing->at, missing->n, suffix);
}

static struct ints counted(int n)
{
    struct ints ints = { .n = n };

    for (int i = 0; i < n; i++)
        ints.at[i] = i;
    return ints;
}

bool slice_at_run_time(struct onnx_node *node)
{
    struct value *inputs[5] = { onnx_input(node, 0) };
    struct ints all, ones;
    struct type y;
    union attrs attrs;

    if (!onnx_check_inputs(node, 3, 5))
        return false;
    if (!onnx_declared(node, 0, &y) && !onnx_is_inside(node))
        return slice_open(node);
    if (!onnx_declared(node, 0, &y) || type_elements(&node->inputs[1]->type) > MAX_RANK)
        return onnx_undeclared(node, unknown_input(node, 1, 4));
    all = counted((int)type_elements(&node->inputs[1]->type));
    ones = ints_fill(all.n, 1);
    inputs[1] = onnx_numbers(node, 1, "starts");
    inputs[2] = onnx_numbers(node, 2, "ends");
    inputs[3] = list_or(node, 3, &all, "axes");
    inputs[4] = list_or(node, 4, &ones, "steps");
    for (int i = 0; i < 5; i++)
        if (!inputs[i])
            return false;
    attrs = (union attrs){ .shape = { .shape = ints_of_shape(&y) } };
    return onnx_output(node, 0, onnx_build(node, OP_DYN_STRIDED_SLICE, &attrs, "", 5, inputs));
}

bool pad_at_run_time(struct onnx_node *node, const char *mode)
{
    struct value *x = onnx_input(node, 0), *inputs[4] = { x };
    struct ints all;
    struct type y;
    union attrs attrs;

    if (!onnx_check_inputs(node, 2, 4))
        return false;
    if (!onnx_declared(node, 0, &y))
        return onnx_undeclared(node, unknown_input(node, 1, 3));
    all = counted(x->type.rank);
    inputs[1] = onnx_numbers(node, 1, "pads");
    inputs[2] = list_or(node, 3, &all, "axes");
    inputs[3] = onnx_input(node, 2);
    if (!inputs[3] || *mode != 'c')
        inputs[3] = scalar_like(node, x, 0, "value");
    if (!inputs[1] || !inputs[2] || !inputs[3])
        return false;
    attrs = (union attrs){ .dyn_pad = { .mode = mode, .shape = ints_of_shape(&y) } };
    return onnx_output(node, 0, onnx_build(node, OP_DYN_PAD, &attrs, "", 4, inputs));
}

/* 0, 1, 2 ... along one of two axes. */
static struct value *positions(struct onnx_node *node, int64_t n, bool along_rows,
                               const char *suffix)
{
    const int64_t dims[] = { along_rows ? n : 1, along_rows ? 1 : n };
    const struct type type = type_make(DTYPE_I64, 2, dims);
    int64_t *data;

    if (!onnx_granted(node, DTYPE_I64, (double)n))
        return NULL;
    data = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < n; i++)
        data[i] = i;
    return onnx_from_tensor(node, &(struct tensor){ type, data }, suffix);
}

/* Where column >= row + k (upper) or column <= row + k, x; else 0. */
bool trilu_at_run_time(struct onnx_node *node, bool upper)
{
    struct value *x = onnx_input(node, 0), *k = onnx_numbers(node, 1, "k"), *parts[3];
    struct value *columns = positions(node, x->type.dim[x->type.rank - 1], false, "columns");
    struct value *rows = positions(node, x->type.dim[x->type.rank - 2], true, "rows");

    if (!k || type_elements(&k->type) != 1)
        return k && diag_error(node->ctx, DIAG_SHAPE, node->origin, "k has %lld numbers, wanted 1",
                               (long long)type_elements(&k->type));
    rows = apply2(node, OP_ADD, "diagonal", rows, k);
    parts[0] = apply2(node, upper ? OP_GREATER_EQUAL : OP_LESS_EQUAL, "stays", columns, rows);
    parts[1] = x;
    parts[2] = scalar_like(node, x, 0, "zero");
    return parts[0] && parts[2] &&
           onnx_output(node, 0, onnx_build(node, OP_WHERE, NULL, "", 3, parts));
}

static struct value *scalar_input(struct onnx_node *node, int i, const char *suffix)
{
    const struct ints none = { 0 };

    return reshape_to(node, onnx_input(node, i), &none, suffix);
}

/* How many numbers there are between start and limit, as ONNX counts them: max(ceil((limit - start) /
 * delta), 0), in f64. */
static struct value *range_length(struct onnx_node *node, struct value *const *in)
{
    struct value *length = apply2(node, OP_SUBTRACT, "extent", in[1], in[0]), *delta;

    length = length ? cast_to(node, length, DTYPE_F64, "extent_real") : NULL;
    delta = cast_to(node, in[2], DTYPE_F64, "delta_real");
    length = apply1(node, OP_CEIL, "steps", apply2(node, OP_DIVIDE, "quotient", length, delta));
    length = length ? cast_to(node, length, DTYPE_I64, "length") : NULL;
    return length ? apply2(node, OP_MAXIMUM, "at_least_0", length,
                           scalar_like(node, length, 0, "none"))
                  : NULL;
}

/* start + i * delta, for as many as the file declares; whether start, limit and delta give that many is
 * checked. */
bool range_at_run_time(struct onnx_node *node)
{
    const union attrs attrs = { .expect = { .mode = "each" } };
    struct value *in[3], *inputs[3], *steps, *start;
    enum dtype dtype = onnx_input(node, 0)->type.dtype;
    struct tensor allowed;
    struct type y, type;
    void *data;

    if (!onnx_declared(node, 0, &y) && !onnx_is_inside(node)) {
        for (int i = 0; i < 3; i++)
            if (!(in[i] = scalar_input(node, i, "scalar")))
                return false;
        return range_open(node, in, range_length(node, in));
    }
    if (!onnx_declared(node, 0, &y) || y.rank != 1)
        return onnx_undeclared(node, unknown_input(node, 0, 2));
    if (!onnx_granted(node, dtype, (double)y.dim[0]))
        return false;
    for (int i = 0; i < 3; i++)
        in[i] = scalar_input(node, i, "scalar");
    type = type_make(dtype, 1, y.dim);
    data = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < y.dim[0]; i++)
        dtype_store(dtype, data, i, (double)i);
    steps = onnx_from_tensor(node, &(struct tensor){ type, data }, "steps");
    allowed = (struct tensor){ type_make(DTYPE_I64, 2, (const int64_t[]){ 1, 1 }), y.dim };
    inputs[0] = in[0];
    inputs[1] = in[0] && in[1] && in[2] ? range_length(node, in) : NULL;
    inputs[2] = onnx_from_tensor(node, &allowed, "allowed");
    if (!inputs[1] || !inputs[2] || !steps)
        return false;
    start = onnx_build(node, OP_EXPECT, &attrs, "start", 3, inputs);
    return onnx_output(
        node, 0, apply2(node, OP_ADD, "", apply2(node, OP_MULTIPLY, "way", steps, in[2]), start));
}
