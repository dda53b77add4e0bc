/* convert_reduce.c - the Reduce family: one relay reduction, with element-wise steps around it. */
#include "frontend/onnx/convert_helpers.h"

struct reducing {
    struct value *x;  /* what the first step reads */
    struct ints axes; /* sorted */
    bool keepdims;
    bool nothing;     /* noop_with_empty_axes: only the element-wise steps remain */
    enum dtype dtype; /* of the input and the result */
    const char *last; /* suffix of the last step before back_to_dtype */
};

/* The axes are an attribute before opset 18 (ReduceSum: 13), an input from there on. */
static bool read_reducing(struct onnx_node *node, int kinds, struct reducing *how)
{
    bool given, noop;

    how->x = onnx_input(node, 0);
    how->last = "";
    if (!onnx_check_inputs(node, 1, 2) || !onnx_check_kind(node, 0, kinds))
        return false;
    how->dtype = how->x->type.dtype;
    how->keepdims = onnx_int(node, "keepdims", 1) != 0;
    noop = onnx_int(node, "noop_with_empty_axes", 0) != 0;
    if (!list_of(node, "axes", 1, &how->axes, &given) || !onnx_ok(node) ||
        !normal_axes(node, &how->axes, how->x->type.rank))
        return false;
    how->nothing = how->axes.n == 0 && noop;
    if (how->axes.n == 0)
        for (int i = 0; i < how->x->type.rank; i++)
            how->axes.at[how->axes.n++] = i;
    return true;
}

static struct value *reduced(struct onnx_node *node, const struct reducing *how, enum op op,
                             struct value *x, const char *suffix)
{
    return how->nothing ? x : reduce_with(node, op, x, &how->axes, how->keepdims, suffix);
}

/* Roots and logarithms of integers are taken in f64, as the result is cut to an integer again. */
static void widen_integers(struct onnx_node *node, struct reducing *how)
{
    if (dtype_is_float(how->dtype))
        return;
    how->x = cast_to(node, how->x, DTYPE_F64, "real");
    how->last = "real_result";
}

static bool back_to_dtype(struct onnx_node *node, const struct reducing *how, struct value *y)
{
    return onnx_output(node, 0, y ? cast_to(node, y, how->dtype, "") : NULL);
}

bool convert_reduce(struct onnx_node *node)
{
    enum op op = (enum op)node->arg;
    struct reducing how;

    return read_reducing(node, op == OP_MAX || op == OP_MIN ? TAKES_ANY : TAKES_NUMBER, &how) &&
           onnx_output(node, 0, reduced(node, &how, op, how.x, ""));
}

bool convert_reduce_l1(struct onnx_node *node)
{
    struct reducing how;
    struct value *y;

    if (!read_reducing(node, TAKES_NUMBER, &how))
        return false;
    y = apply1(node, OP_ABS, how.nothing ? "" : "abs", how.x);
    return onnx_output(node, 0, reduced(node, &how, OP_SUM, y, ""));
}

bool convert_reduce_l2(struct onnx_node *node)
{
    struct reducing how;
    struct value *y;

    if (!read_reducing(node, TAKES_NUMBER, &how))
        return false;
    widen_integers(node, &how);
    y = apply2(node, OP_MULTIPLY, "square", how.x, how.x);
    y = reduced(node, &how, OP_SUM, y, "sum");
    return back_to_dtype(node, &how, apply1(node, OP_SQRT, how.last, y));
}

bool convert_reduce_log_sum(struct onnx_node *node)
{
    struct reducing how;

    if (!read_reducing(node, TAKES_NUMBER, &how))
        return false;
    widen_integers(node, &how);
    return back_to_dtype(node, &how,
                         apply1(node, OP_LOG, how.last, reduced(node, &how, OP_SUM, how.x, "sum")));
}

/* The maximum along the axes, with 0 where it is infinite. */
static struct value *finite_max(struct onnx_node *node, const struct reducing *how)
{
    struct value *parts[3];

    parts[1] = reduce_with(node, OP_MAX, how->x, &how->axes, true, "max");
    parts[0] = apply1(node, OP_ISFINITE, "is_finite", parts[1]);
    parts[2] = scalar_like(node, how->x, 0, "zero");
    if (!parts[0] || !parts[2])
        return NULL;
    return onnx_build(node, OP_WHERE, NULL, "shift", 3, parts);
}

/* log(sum(exp(x))) = log(sum(exp(x - m))) + m, where m is the maximum, so that no exp overflows. An
 * infinite m would make x - m NaN; with 0 in its place the sum itself is right. */
bool convert_reduce_log_sum_exp(struct onnx_node *node)
{
    struct reducing how;
    struct value *m, *y;
    struct ints shape;

    if (!read_reducing(node, TAKES_NUMBER, &how))
        return false;
    if (how.nothing)
        return onnx_output(node, 0, how.x);
    widen_integers(node, &how);
    if (how.x && type_elements(&how.x->type) == 0) /* an empty maximum: nothing to shift by */
        return back_to_dtype(
            node, &how, apply1(node, OP_LOG, how.last, reduced(node, &how, OP_SUM, how.x, "sum")));
    m = finite_max(node, &how);
    y = apply1(node, OP_EXP, "exp", apply2(node, OP_SUBTRACT, "shifted", how.x, m));
    y = apply1(node, OP_LOG, "log", reduced(node, &how, OP_SUM, y, "sum"));
    if (!y)
        return false;
    shape = ints_of_shape(&y->type);
    return back_to_dtype(
        node, &how, apply2(node, OP_ADD, how.last, y, reshape_to(node, m, &shape, "shift_out")));
}

bool convert_reduce_sum_square(struct onnx_node *node)
{
    struct reducing how;
    struct value *y;

    if (!read_reducing(node, TAKES_NUMBER, &how))
        return false;
    y = apply2(node, OP_MULTIPLY, how.nothing ? "" : "square", how.x, how.x);
    return onnx_output(node, 0, reduced(node, &how, OP_SUM, y, ""));
}

/* ArgMax, ArgMin */
bool convert_arg(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .arg = { .keepdims = onnx_int(node, "keepdims", 1) != 0,
                                   .select_last_index =
                                       onnx_int(node, "select_last_index", 0) != 0 } };
    int axis;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER))
        return false;
    axis = normal_axis_attr(node, 0, x->type.rank);
    attrs.arg.axis = axis;
    return axis >= 0 && onnx_output(node, 0, onnx_build1(node, (enum op)node->arg, &attrs, "", x));
}

bool convert_cumulative(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .cumsum = { .exclusive = onnx_int(node, "exclusive", 0) != 0,
                                      .reverse = onnx_int(node, "reverse", 0) != 0 } };
    struct ints axis;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_ok(node) || !onnx_constant_ints(node, 1, &axis))
        return false;
    if (axis.n != 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "the axis has %d numbers, wanted 1",
                          axis.n);
    attrs.cumsum.axis = normal_axis(node, axis.at[0], x->type.rank);
    return attrs.cumsum.axis >= 0 &&
           onnx_output(node, 0, onnx_build1(node, (enum op)node->arg, &attrs, "", x));
}

/* k is an attribute before opset 10, input 1 from there on. */
bool convert_topk(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .topk = { .largest = onnx_int(node, "largest", 1) != 0,
                                    .sorted = onnx_int(node, "sorted", 1) != 0 } };
    struct ints k = { .n = 1 };
    int axis;

    if (!onnx_check_inputs(node, node->opset < 10 ? 1 : 2, node->opset < 10 ? 1 : 2) ||
        !onnx_check_kind(node, 0, TAKES_NUMBER))
        return false;
    if (node->opset < 10)
        k.at[0] = onnx_int(node, "k", -1);
    else if (!onnx_is_known(node, 1) && !onnx_is_inside(node))
        return top_k_open(node);
    else if (!onnx_constant_ints(node, 1, &k))
        return false;
    axis = normal_axis_attr(node, -1, x->type.rank);
    if (axis < 0)
        return false;
    if (k.n != 1 || k.at[0] < 0 || k.at[0] > x->type.dim[axis])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "k must be one number from 0 to %lld, the extent of axis %d",
                          (long long)x->type.dim[axis], axis);
    attrs.topk.axis = axis;
    attrs.topk.k = k.at[0];
    return output_node(node, OP_TOPK, &attrs, 1, &x, 2);
}
