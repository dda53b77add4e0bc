/* qnn_softmax_powers.c - softmax of 8-bit quantised values as TensorFlow Lite's reference kernels compute it,
 * bit for bit. Inputs: x, powers (i32, 256), out_scale, out_zero, which gives the type: i8, u8 or i16.
 *
 * powers[d], in units of 2^-31, belongs to an element d steps below the greatest of its line; who
 * makes the node has scale and beta in it. A line's sum adds the powers in units of 2^-19, each
 * rounded; the result is its power times the sum's reciprocal (q31_reciprocal) in units of 2^-8,
 * of 2^-16 for i16, rounded to nearest, ties away from zero, plus the least code. out_zero is that
 * code, out_scale the unit. A line has at most 4095 elements: the sum fits 31 bits. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"

enum { X, POWERS, OUT_SCALE, OUT_ZERO };

/* The greatest of a line has a power of 1/2 or more, so that a sum has a reciprocal. */
static bool are_powers(const struct value *value)
{
    const int32_t *powers = value->data;

    if (value->kind != VALUE_CONSTANT)
        return true;
    for (int d = 0; d < QNN_VALUES; d++)
        if (powers[d] < 0)
            return false;
    return powers[0] >= 1 << 30;
}

bool infer_qnn_softmax_powers(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, X);
    const enum dtype to = input_type(node, OUT_ZERO)->dtype;

    if (!check_axis(ctx, node, x, &node->attrs.axis.axis) ||
        !qnn_check_scale(ctx, node, OUT_SCALE, 1) || !qnn_check_zero(ctx, node, OUT_ZERO, to, 1))
        return false;
    if ((x->dtype != DTYPE_I8 && x->dtype != DTYPE_U8) ||
        (to != DTYPE_I8 && to != DTYPE_U8 && to != DTYPE_I16))
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s makes %s of %s, expected i8, u8 or i16 of i8 or u8",
                          op_name(node->op), dtype_name(to), dtype_name(x->dtype));
    if (!qnn_check_powers(ctx, node, POWERS) || !qnn_check_line(ctx, node, x))
        return false;
    if (!are_powers(node->inputs[POWERS]))
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "input 1 of %s has a negative power, or a first one below 2^30",
                          op_name(node->op));
    set_scaled_output(node, to, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

static void softmax_line(const struct tensor *x, const struct tensor *powers, int64_t at, int64_t n,
                         int64_t step, struct tensor *out)
{
    const int64_t least = (int64_t)dtype_least(out->type.dtype);
    const int below = 31 - 8 * (int)dtype_bytes(out->type.dtype);
    int64_t highest = tensor_int_at(x, at);
    uint32_t sum = 0;
    int32_t factor;
    int shift;

    for (int64_t i = 1; i < n; i++) {
        const int64_t v = tensor_int_at(x, at + i * step);

        highest = v > highest ? v : highest;
    }
    for (int64_t i = 0; i < n; i++)
        sum += (uint32_t)q31_shift_down(
            (int32_t)tensor_int_at(powers, highest - tensor_int_at(x, at + i * step)), 12);
    factor = q31_reciprocal(sum, &shift);
    for (int64_t i = 0; i < n; i++) {
        const int32_t power =
            (int32_t)tensor_int_at(powers, highest - tensor_int_at(x, at + i * step));

        qnn_put_saturated(out, at + i * step,
                          q31_shift_down(q31_multiply(factor, power), below + shift) + least);
    }
}

bool eval_qnn_softmax_powers(struct ctx *ctx, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[X]->type;
    const int64_t n = x->dim[axis], inner = type_span(x, axis + 1, x->rank);
    const int64_t lines = n > 0 ? type_span(x, 0, axis) * inner : 0;

    (void)ctx;
    for (int64_t i = 0; i < lines; i++)
        softmax_line(in[X], in[POWERS], i / inner * n * inner + i % inner, n, inner, out);
    return true;
}
