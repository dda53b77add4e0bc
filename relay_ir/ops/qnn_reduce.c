/* qnn_reduce.c - qnn.avg_pool1d, avg_pool2d, avg_pool3d, qnn.mean and qnn.sum: averages and sums of
 * numbers with a scale and a zero point. Inputs: x, in_scale, in_zero, out_scale, out_zero, which
 * gives the type. Attributes and shapes are those of the float operators.
 *
 * S is the sum of (x - in_zero); padding that counts has the number in_zero.
 *
 * average  of n numbers. Where x and the result have one type, scale and zero point: S / n, to
 *          nearest, ties away from zero, plus the zero point (TensorFlow Lite's MEAN; its
 *          AVERAGE_POOL and CMSIS-NN do the same with the sum of what is stored, so that halves
 *          go the other way where that is negative).
 *
 *          Else saturate(rescaled(S, in_scale / (n * out_scale)) + out_zero), where rescaled() is
 *          fixed_point_apply in single rounding. n = 0: out_zero.
 *
 * mean_double  TensorFlow Lite's MEAN, 8 and 16 bits only: S times a factor that is that of in_scale
 *          / out_scale, shifted up, divided by n and rounded down, so that its multiplier may have
 *          a bit less (qnn_mean_double_of); double rounding
 *
 * sum      saturate(rescaled(S, in_scale / out_scale) + out_zero)
 *
 * The sum is one of 64 bits here; generated C, which sums in 32, refuses what could leave them.
 *
 * Narrow floats: the sum of steps, exact, times exact_average_of (exact.h), rounded once. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

enum { IN_SCALE = 1, IN_ZERO, OUT_SCALE, OUT_ZERO };

bool qnn_check_scales(struct ctx *ctx, const struct node *node)
{
    if (type_minifloat(input_type(node, 0)))
        return exact_check_scales(ctx, node);
    return qnn_check_quantized(ctx, node, 0) && qnn_check_scale(ctx, node, IN_SCALE, 1) &&
           qnn_check_zero(ctx, node, IN_ZERO, input_type(node, 0)->dtype, 1) &&
           qnn_check_scale(ctx, node, OUT_SCALE, 1) && qnn_check_vector(ctx, node, OUT_ZERO, 1) &&
           qnn_check_quantized(ctx, node, OUT_ZERO);
}

/* Narrow floats have none. */
static int64_t zero_of(const struct tensor *zero)
{
    return type_minifloat(&zero->type) ? 0 : tensor_int_at(zero, 0);
}

struct qnn_scales qnn_scales_of(const struct tensor *const *in)
{
    return (struct qnn_scales){ .in_scale = tensor_at(in[IN_SCALE], 0),
                                .out_scale = tensor_at(in[OUT_SCALE], 0),
                                .in_zero = zero_of(in[IN_ZERO]),
                                .out_zero = zero_of(in[OUT_ZERO]) };
}

bool qnn_average_is_plain(const struct node *node, const struct qnn_scales *scales)
{
    return !type_minifloat(&node->inputs[0]->type) &&
           node->inputs[0]->type.dtype == node->outputs[0]->type.dtype &&
           scales->in_scale == scales->out_scale && scales->in_zero == scales->out_zero;
}

struct fixed_point qnn_average_factor_of(const struct qnn_scales *scales, int64_t n)
{
    return fixed_point_of(n > 0 ? scales->in_scale / ((double)n * scales->out_scale) : 0);
}

int64_t qnn_average_of(const struct node *node, const struct qnn_scales *scales, int64_t sum,
                       int64_t n)
{
    if (n > 0 && qnn_average_is_plain(node, scales))
        return scales->out_zero + (sum < 0 ? sum - n / 2 : sum + n / 2) / n;
    return scales->out_zero +
           fixed_point_apply(qnn_average_factor_of(scales, n), sum, ROUND_SINGLE);
}

bool infer_qnn_reduce(struct ctx *ctx, struct node *node)
{
    struct type shape;

    if (!qnn_check_scales(ctx, node) || !reduce_shape(ctx, node, &shape))
        return false;
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, &shape, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

/* Element i of an average or a sum, whose n elements have the sum `sum` of distances from the zero
 * point. */
static void put(const struct node *node, const struct qnn_scales *scales, int64_t sum, int64_t n,
                struct tensor *out, int64_t i)
{
    const struct fixed_point factor = fixed_point_of(scales->in_scale / scales->out_scale);

    if (type_minifloat(&out->type))
        exact_put_average(node, scales, sum, node->op == OP_QNN_MEAN ? n : 1, out, i);
    else
        qnn_put_saturated(out, i,
                          node->op == OP_QNN_MEAN
                              ? qnn_average_of(node, scales, sum, n)
                              : scales->out_zero + fixed_point_apply(factor, sum, ROUND_SINGLE));
}

bool eval_qnn_reduce(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const struct qnn_scales scales = qnn_scales_of(in);
    const int64_t n_out = type_elements(&out->type);
    const int64_t n = n_out ? type_elements(&in[0]->type) / n_out : 0;
    struct type type = out->type;
    struct bulk bulk = { NULL, 0 };
    const struct tensor x = type_minifloat(&in[0]->type) ? exact_steps_of(&bulk, in[0]) : *in[0];
    struct tensor sums;

    type.dtype = DTYPE_I64;
    type.quant = NULL;
    sums = tensor_new(&bulk, &type);
    reduce_sums(&node->attrs.reduce.axis, &x, &sums);
    (void)ctx;
    for (int64_t i = 0; i < n_out; i++)
        put(node, &scales, tensor_int_at(&sums, i) - n * scales.in_zero, n, out, i);
    bulk_release(&bulk);
    return true;
}

struct fixed_point qnn_mean_double_of(const struct qnn_scales *scales, int64_t n)
{
    const struct fixed_point whole = fixed_point_of(scales->in_scale / scales->out_scale);
    int shift = 0;

    if (n < 1)
        return (struct fixed_point){ 0, 0 };
    while (shift < 32 && shift < 31 + whole.shift && n >> (shift + 1))
        shift++;
    return (struct fixed_point){ (int32_t)(((int64_t)whole.multiplier << shift) / n),
                                 whole.shift - shift };
}

bool infer_qnn_mean_double(struct ctx *ctx, struct node *node)
{
    return qnn_check_quantized(ctx, node, 0) && infer_qnn_reduce(ctx, node);
}

bool eval_qnn_mean_double(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                          struct tensor *out)
{
    const struct qnn_scales scales = qnn_scales_of(in);
    const int64_t n_out = type_elements(&out->type);
    const int64_t n = n_out ? type_elements(&in[0]->type) / n_out : 0;
    const struct fixed_point factor = qnn_mean_double_of(&scales, n);
    struct type type = out->type;
    struct bulk bulk = { NULL, 0 };
    struct tensor sums;

    type.dtype = DTYPE_I64;
    type.quant = NULL;
    sums = tensor_new(&bulk, &type);
    reduce_sums(&node->attrs.reduce.axis, in[0], &sums);
    (void)ctx;
    for (int64_t i = 0; i < n_out; i++)
        qnn_put_saturated(out, i,
                          scales.out_zero +
                              fixed_point_apply(factor,
                                                tensor_int_at(&sums, i) - n * scales.in_zero,
                                                ROUND_DOUBLE));
    bulk_release(&bulk);
    return true;
}
