/* convert_generate.c - tensors that the compiler itself computes, as their numbers do not depend on
 * the inputs: Shape, Size, ConstantOfShape, Range, EyeLike. The windows: convert_signal.c. */
#include <math.h>

#include "frontend/onnx/convert_helpers.h"

static int64_t clamp_dim(int64_t at, int rank)
{
    at = at < 0 ? at + rank : at;
    return at < 0 ? 0 : at > rank ? rank : at;
}

bool convert_shape(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    int64_t start = onnx_int(node, "start", 0), end = onnx_int(node, "end", MAX_RANK);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_ok(node))
        return false;
    start = clamp_dim(start, x->type.rank);
    end = clamp_dim(end, x->type.rank);
    return onnx_output(
        node, 0, onnx_from_ints(node, x->type.dim + start, end > start ? end - start : 0, ""));
}

bool convert_size(struct onnx_node *node)
{
    const struct type scalar = type_scalar(DTYPE_I64);
    const struct value *x = onnx_input(node, 0);
    int64_t n;

    if (!onnx_check_inputs(node, 1, 1))
        return false;
    n = type_elements(&x->type);
    return onnx_output(node, 0, onnx_from_tensor(node, &(struct tensor){ scalar, &n }, ""));
}

bool convert_constant_of_shape(struct onnx_node *node)
{
    const struct type zero_type = type_scalar(DTYPE_F32);
    union attrs attrs = { .shape = { .shape = { 0 } } };
    float zero = 0;
    struct tensor number = { zero_type, &zero };
    const bool is_open = onnx_input(node, 0) && !onnx_is_known(node, 0) && !onnx_is_inside(node);
    struct value *scalar;

    if (!onnx_check_inputs(node, 1, 1) ||
        (!is_open && !onnx_constant_ints(node, 0, &attrs.shape.shape)))
        return false;
    if (!onnx_tensor(node, "value", &number) && !onnx_ok(node))
        return false;
    if (type_elements(&number.type) != 1)
        return bad_attribute(node, "attribute value has shape %s, wanted one element",
                             shape_text(&node->ctx->perm, &number.type));
    for (int i = 0; i < attrs.shape.shape.n; i++)
        if (attrs.shape.shape.at[i] < 0)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "the shape has %lld at position %d",
                              (long long)attrs.shape.shape.at[i], i);
    number.type.rank = 0;
    scalar = onnx_from_tensor(node, &number, "number");
    if (is_open)
        return constant_of_shape_open(node, scalar);
    return scalar && onnx_output(node, 0, onnx_build1(node, OP_BROADCAST_TO, &attrs, "", scalar));
}

static bool output_tensor(struct onnx_node *node, const struct tensor *tensor)
{
    return onnx_output(node, 0, onnx_from_tensor(node, tensor, ""));
}

/* Numbers of integer ranges: exact, also where a double is not. */
static bool range_of_integers(struct onnx_node *node, enum dtype dtype, const struct tensor *in)
{
    int64_t start = tensor_int_at(&in[0], 0), limit = tensor_int_at(&in[1], 0);
    int64_t delta = tensor_int_at(&in[2], 0), span, n = 0;
    struct tensor out;

    if (delta == 0)
        return bad_attribute(node, "the step of the range is 0");
    if (__builtin_sub_overflow(limit, start, &span) || span < -INT64_MAX || delta < -INT64_MAX)
        return diag_error(node->ctx, DIAG_TOO_BIG, node->origin, "the range overflows");
    if (span != 0 && (span > 0) == (delta > 0))
        n = span / delta + (span % delta != 0);
    if (!onnx_granted(node, dtype, (double)n))
        return false;
    out = tensor_new(&node->fn->module->bulk, &(struct type){ dtype, 1, { n }, NULL });
    for (int64_t i = 0; i < n; i++)
        dtype_store_int(dtype, out.data, i, start + i * delta);
    return output_tensor(node, &out);
}

static bool range_of_reals(struct onnx_node *node, enum dtype dtype, const struct tensor *in)
{
    double start = tensor_at(&in[0], 0), limit = tensor_at(&in[1], 0), delta = tensor_at(&in[2], 0);
    double n = ceil((limit - start) / delta);
    struct tensor out;

    if (!(n < 0x1p53)) /* NaN too: a step of 0, infinite bounds */
        return diag_error(node->ctx, DIAG_TOO_BIG, node->origin,
                          "the range from %g to %g by %g is too long", start, limit, delta);
    if (!onnx_granted(node, dtype, n > 0 ? n : 0))
        return false;
    out = tensor_new(&node->fn->module->bulk,
                     &(struct type){ dtype, 1, { n > 0 ? (int64_t)n : 0 }, NULL });
    for (int64_t i = 0; i < out.type.dim[0]; i++)
        dtype_store(dtype, out.data, i, start + (double)i * delta);
    return output_tensor(node, &out);
}

bool convert_range(struct onnx_node *node)
{
    struct tensor in[3];
    enum dtype dtype;
    bool ok = true;

    if (!onnx_check_inputs(node, 3, 3))
        return false;
    dtype = onnx_input(node, 0)->type.dtype;
    for (int i = 0; i < 3; i++) {
        const struct type *type = &onnx_input(node, i)->type;

        ok = onnx_check_kind(node, i, TAKES_NUMBER) && ok;
        if (ok && (type_elements(type) != 1 || type->dtype != dtype))
            ok = diag_error(node->ctx, DIAG_SHAPE, node->origin,
                            "start, limit and delta must be scalars of one type");
    }
    if (ok && !numbers_are_known(node, 0, 2))
        return range_at_run_time(node);
    for (int i = 0; i < 3; i++)
        ok = ok && onnx_constant(node, i, &in[i]);
    if (!ok)
        return false;
    return dtype_is_float(dtype) ? range_of_reals(node, dtype, in)
                                 : range_of_integers(node, dtype, in);
}

/* Ones on the k-th diagonal of a matrix of the input's shape. */
bool convert_eye_like(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    int64_t k = onnx_int(node, "k", 0), code = onnx_int(node, "dtype", -1);
    struct tensor out;
    struct type type;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 2, 2) || !onnx_ok(node))
        return false;
    type = type_make(x->type.dtype, 2, x->type.dim);
    if (code != -1)
        type.dtype = code > 0 && code <= INT32_MAX ? dtype_from_onnx((int32_t)code) : DTYPE_NONE;
    if (type.dtype == DTYPE_NONE)
        return bad_attribute(node, "attribute dtype names no element type that relayc has");
    if (!onnx_granted(node, type.dtype, (double)type.dim[0] * (double)type.dim[1]))
        return false;
    out = tensor_new(&node->fn->module->bulk, &type);
    for (int64_t row = 0; row < type.dim[0]; row++)
        if (k > -type.dim[0] && k < type.dim[1] && row + k >= 0 && row + k < type.dim[1])
            dtype_store(type.dtype, out.data, row * type.dim[1] + row + k, 1);
    return output_tensor(node, &out);
}
