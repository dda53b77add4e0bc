/* qnn_log_softmax_powers.c - logarithms of softmax of 8-bit quantised values as TensorFlow Lite Micro's reference
 * kernel computes them, bit for bit. Inputs: x (i8), powers (i32, 256), differences (i32, 256), out_scale, out_zero
 * (i8).
 *
 * powers[d], in units of 2^-31, belongs to an element d steps below the greatest of its line, differences[d] is the
 * exponent in units of 2^-26. A line's sum adds the powers in units of 2^-19, each rounded; a result is the exponent
 * less the sum's logarithm (q31_log), to units of 2^-4, ties away from zero, plus 127. out_scale is 2^-4, out_zero 127.
 * A line has at most 4095 elements. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"

enum { X, POWERS, DIFFERENCES, OUT_SCALE, OUT_ZERO };

/* The greatest of a line has a power of 1, so that a sum has a logarithm. */
static bool are_powers(const struct value *value)
{
    const int32_t *powers = value->data;

    if (value->kind != VALUE_CONSTANT)
        return true;
    for (int d = 0; d < QNN_VALUES; d++)
        if (powers[d] < 0)
            return false;
    return powers[0] == INT32_MAX;
}

bool infer_qnn_log_softmax_powers(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, X);

    if (!check_axis(ctx, node, x, &node->attrs.axis.axis) ||
        !qnn_check_scale(ctx, node, OUT_SCALE, 1) ||
        !qnn_check_zero(ctx, node, OUT_ZERO, DTYPE_I8, 1) || !qnn_check_powers(ctx, node, POWERS) ||
        !qnn_check_powers(ctx, node, DIFFERENCES) || !qnn_check_line(ctx, node, x))
        return false;
    if (x->dtype != DTYPE_I8)
        return diag_error(ctx, DIAG_TYPE, node_origin(node), "%s of %s, expected i8",
                          op_name(node->op), dtype_name(x->dtype));
    if (!are_powers(node->inputs[POWERS]))
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "input 1 of %s has a negative power, or a first one below 2^31 - 1",
                          op_name(node->op));
    set_scaled_output(node, DTYPE_I8, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

static void log_softmax_line(const struct tensor *const *in, int64_t at, int64_t n, int64_t step,
                             struct tensor *out)
{
    int64_t highest = INT8_MIN;
    int32_t sum = 0, log;

    for (int64_t i = 0; i < n; i++) {
        const int64_t v = tensor_int_at(in[X], at + i * step);

        highest = v > highest ? v : highest;
    }
    for (int64_t i = 0; i < n; i++)
        sum += q31_shift_down(
            (int32_t)tensor_int_at(in[POWERS], highest - tensor_int_at(in[X], at + i * step)), 12);
    log = q31_log(sum);
    for (int64_t i = 0; i < n; i++) {
        const int64_t exponent =
            tensor_int_at(in[DIFFERENCES], highest - tensor_int_at(in[X], at + i * step)) - log;
        const int64_t magnitude = ((exponent < 0 ? -exponent : exponent) + (1 << 21)) >> 22;

        qnn_put_saturated(out, at + i * step, (exponent < 0 ? -magnitude : magnitude) + 127);
    }
}

bool eval_qnn_log_softmax_powers(struct ctx *ctx, const struct node *node,
                                 const struct tensor *const *in, struct tensor *out)
{
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[X]->type;
    const int64_t n = x->dim[axis], inner = type_span(x, axis + 1, x->rank);
    const int64_t lines = n > 0 ? type_span(x, 0, axis) * inner : 0;

    (void)ctx;
    for (int64_t i = 0; i < lines; i++)
        log_softmax_line(in, i / inner * n * inner + i % inner, n, inner, out);
    return true;
}
