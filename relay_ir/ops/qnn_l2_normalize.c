/* qnn_l2_normalize.c - x / |x| along one axis, of 8-bit quantised values, as TensorFlow Lite's reference kernels
 * compute it, bit for bit. Inputs: x, x_zero, out_scale (2^-7), out_zero (0), all i8.
 *
 * N adds the squares of the distances from the zero point; the result is a distance times 2^7 / sqrt(N)
 * (q31_inverse_root), rounded twice as qnn.requantize "double", saturated. A line has at most 32768 elements: N fits
 * 31 bits. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"

enum { X, X_ZERO, OUT_SCALE, OUT_ZERO, UNIT_BITS = 7, MOST = 32768 };

bool infer_qnn_l2_normalize(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, X);

    if (!check_axis(ctx, node, x, &node->attrs.axis.axis) ||
        !qnn_check_zero(ctx, node, X_ZERO, x->dtype, 1) ||
        !qnn_check_scale(ctx, node, OUT_SCALE, 1) ||
        !qnn_check_zero(ctx, node, OUT_ZERO, DTYPE_I8, 1))
        return false;
    if (x->dtype != DTYPE_I8)
        return diag_error(ctx, DIAG_TYPE, node_origin(node), "%s of %s, expected i8",
                          op_name(node->op), dtype_name(x->dtype));
    if (x->dim[node->attrs.axis.axis] > MOST)
        return diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                          "%s over %lld elements, expected at most %d", op_name(node->op),
                          (long long)x->dim[node->attrs.axis.axis], MOST);
    set_scaled_output(node, DTYPE_I8, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

static void normalize_line(const struct tensor *x, int64_t zero, int64_t at, int64_t n,
                           int64_t step, struct tensor *out)
{
    struct fixed_point factor;
    int64_t sum = 0;
    int shift;

    for (int64_t i = 0; i < n; i++) {
        const int64_t distance = tensor_int_at(x, at + i * step) - zero;

        sum += distance * distance;
    }
    factor.multiplier = q31_inverse_root((int32_t)sum, &shift);
    factor.shift = shift + UNIT_BITS;
    for (int64_t i = 0; i < n; i++)
        qnn_put_saturated(
            out, at + i * step,
            fixed_point_apply(factor, tensor_int_at(x, at + i * step) - zero, ROUND_DOUBLE));
}

bool eval_qnn_l2_normalize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                           struct tensor *out)
{
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[X]->type;
    const int64_t n = x->dim[axis], inner = type_span(x, axis + 1, x->rank);
    const int64_t lines = n > 0 ? type_span(x, 0, axis) * inner : 0;

    (void)ctx;
    for (int64_t i = 0; i < lines; i++)
        normalize_line(in[X], tensor_int_at(in[X_ZERO], 0), i / inner * n * inner + i % inner, n,
                       inner, out);
    return true;
}
