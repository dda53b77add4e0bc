/* convert_reduce.c - SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_ALL, REDUCE_ANY, CUMSUM, LOG_SOFTMAX,
 * L2_NORMALIZATION: what is computed from a line of elements. */
#include <math.h>

#include "frontend/tflite/convert_compose.h"

/* Input 1, without duplicates. */
static bool read_axes(struct tfl_node *node, struct ints *axes)
{
    struct ints given;

    axes->n = 0;
    if (!tfl_check(node, 2, 2, 1) || !tfl_constant_ints(node, 1, &given))
        return false;
    for (int i = 0; i < given.n; i++) {
        int64_t axis;

        if (!tfl_check_axis(node, given.at[i], node->inputs[0]->type.rank, &axis))
            return false;
        if (!ints_has(axes, axis))
            axes->at[axes->n++] = axis;
    }
    return axes->n > 0 || tfl_unsupported(node, "no dimension");
}

/* Distances from the zero point are added, and the sum is rescaled. */
static struct value *sum_of_quantized(struct tfl_node *node, const union attrs *attrs)
{
    const struct tfl_tensor *x = node->inputs[0];
    struct value *steps = tfl_steps(node, 0, 0, "steps");

    return tfl_quantized(node, steps ? tfl_build1(node, OP_SUM, attrs, "sums", steps) : NULL,
                         tfl_scale(x, 0) / tfl_scale(node->outputs[0], 0), "codes");
}

/* Truth as quantised values 0 and 1, whose least is 1 where all are. */
static struct value *of_truth(struct tfl_node *node, const union attrs *attrs)
{
    struct value *x = tfl_cast(node, DTYPE_I8, "truth", tfl_value(node, 0));

    x = x ? tfl_build1(node, (enum op)node->arg, attrs, "extreme", x) : NULL;
    return tfl_cast(node, DTYPE_BOOL, "y", x);
}

bool convert_tfl_reduce(struct tfl_node *node)
{
    union attrs attrs = { .reduce = { .keepdims = true } };
    const enum op op = (enum op)node->arg;
    const struct tfl_tensor *x;
    struct value *y;

    if (!read_axes(node, &attrs.reduce.axis))
        return false;
    x = node->inputs[0];
    if (x->type.dtype == DTYPE_BOOL) {
        y = of_truth(node, &attrs);
    } else if (x->type.dtype == DTYPE_F32 || tfl_is_plain(x)) {
        y = tfl_build1(node, op, &attrs, "y", tfl_value(node, 0));
    } else if (op == OP_SUM) {
        if (!tfl_check_type(node, x, DTYPE_I8) ||
            !tfl_check_type(node, node->outputs[0], DTYPE_I8) || !tfl_check_scale(node, x) ||
            !tfl_check_scale(node, node->outputs[0]))
            return false;
        y = sum_of_quantized(node, &attrs);
    } else {
        if (op == OP_PROD)
            return tfl_check_type(node, x, DTYPE_F32);
        if (!tfl_check_kept(node, x, node->outputs[0]))
            return false;
        y = tfl_build1(node, op, &attrs, "y", tfl_value(node, 0));
    }
    return tfl_output(node, 0, tfl_reshape(node, y, &node->outputs[0]->type, "shaped"));
}

/* Of quantised values: steps times 2^19, to which the kernel adds its own zero point once. */
bool convert_tfl_cumsum(struct tfl_node *node)
{
    enum { EXCLUSIVE, REVERSE };
    union attrs attrs = { .cumsum = { .exclusive = tfl_flag(node, EXCLUSIVE),
                                      .reverse = tfl_flag(node, REVERSE) } };
    const struct tfl_tensor *x, *y;
    struct ints axis;
    struct value *sum;

    if (!tfl_check(node, 2, 2, 1) || !tfl_constant_ints(node, 1, &axis))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    if (axis.n != 1)
        return tfl_unsupported(node, "%d axes", axis.n);
    if (!tfl_check_axis(node, axis.at[0], x->type.rank, &attrs.cumsum.axis))
        return false;
    if (x->type.dtype == DTYPE_F32 || tfl_is_plain(x))
        return tfl_output(node, 0, tfl_build1(node, OP_CUMSUM, &attrs, "sums", tfl_value(node, 0)));
    if (!tfl_check_type(node, x, DTYPE_I8) || !tfl_check_type(node, y, DTYPE_I8) ||
        !tfl_check_scale(node, x) || !tfl_check_scale(node, y))
        return false;
    if (x->type.dim[attrs.cumsum.axis] > 14)
        return tfl_unsupported(node, "%lld codes, of which the kernel's sums overflow beyond 14",
                               (long long)x->type.dim[attrs.cumsum.axis]);
    sum = tfl_steps(node, 0, 19, "steps");
    sum = tfl_two(node, OP_ADD, "started",
                  sum ? tfl_build1(node, OP_CUMSUM, &attrs, "sums", sum) : NULL,
                  tfl_number(node, DTYPE_I32, ldexp((double)-tfl_zero(x), 19), "start"));
    return tfl_output(
        node, 0,
        tfl_quantized(node, sum, 2 * tfl_scale(x, 0) / (0x1p20 * tfl_scale(y, 0)), "codes"));
}

/* x / |x| of quantised values, to units of 2^-7. */
static bool l2_normalized_quantized(struct tfl_node *node)
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const union attrs axis = { .axis = { .axis = x->type.rank - 1 } };

    if (!tfl_check_scale(node, x) || !tfl_check_scale(node, y) ||
        !tfl_check_type(node, y, DTYPE_I8))
        return false;
    if (!(tfl_scale(y, 0) == 0.0078125) || tfl_zero(y) != 0)
        return tfl_unsupported(node,
                               "a result of scale %g and zero point %lld, expected 1/128 and 0",
                               tfl_scale(y, 0), (long long)tfl_zero(y));
    if (tfl_word(node, 0) != 0)
        return tfl_unsupported(node, "fused activation %lld of codes",
                               (long long)tfl_word(node, 0));
    return tfl_output(
        node, 0,
        tfl_build(node, OP_QNN_L2_NORMALIZE, &axis, "codes", 4,
                  (struct value *const[]){ tfl_value(node, 0), tfl_zero_of(node, x, "x_zero"),
                                           tfl_scale_of(node, y, "scale"),
                                           tfl_zero_of(node, y, "zero") }));
}

/* x / max(|x|, 1e-6) along the last dimension. */
bool convert_tfl_l2_normalization(struct tfl_node *node)
{
    union attrs attrs = { .reduce = { .keepdims = true } };
    struct value *x, *norm;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK))
        return false;
    if (node->inputs[0]->type.dtype == DTYPE_I8)
        return l2_normalized_quantized(node);
    if (!tfl_check_type(node, node->inputs[0], DTYPE_F32))
        return false;
    attrs.reduce.axis = ints_fill(1, node->inputs[0]->type.rank - 1);
    x = tfl_value(node, 0);
    norm = tfl_two(node, OP_MULTIPLY, "squares", x, x);
    norm = norm ? tfl_build1(node, OP_SUM, &attrs, "sum", norm) : NULL;
    norm = norm ? tfl_build1(node, OP_SQRT, NULL, "norm", norm) : NULL;
    norm = tfl_two(node, OP_MAXIMUM, "bounded", norm, tfl_number(node, DTYPE_F32, 1e-6, "least"));
    return tfl_output(node, 0, tfl_activation(node, 0, tfl_two(node, OP_DIVIDE, "y", x, norm)));
}
