/* qnn_normalize.c - qnn.lp_normalize and qnn.lrn: quantised values divided by a norm of their
 * neighbours. Inputs: x, in_scale, in_zero, out_scale, out_zero. d = x - in_zero.
 *
 * lp_normalize  of a line: N = the sum of |d| (p = 1), or of d^2 (p = 2), in 64 bits.
 *               share  = d / N or d / sqrt(N), by floor(2^62 / N) or inverse_root_of(N), to the
 *                        nearest multiple of 2^-30, ties up; 0 where N is 0
 *               result = saturate(rescaled(share * 2^30, 1 / (out_scale * 2^30)) + out_zero)
 *
 * lrn           W = the sum of d^2 of the channels around it.
 *               power  = (1 + alpha * in_scale^2 / (size * bias) * W)^-beta: the mantissa's from a
 *                        table of 257, linear between its entries (beta * (beta + 1) * 2e-6 of it
 *                        off), times that of the exponent, in 2^-31
 *               result = saturate(rescaled(d * power to the nearest 2^-14, in_scale * bias^-beta /
 *                        (out_scale * 2^-14)) + out_zero)
 *
 * rescaled() is fixed_point_apply in single rounding. Narrow floats: exact.h (exact_share_of,
 * exact_lrn_factor). */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"

enum { OUT_SCALE = 3, OUT_ZERO };

/* 63 bits hold the squares of n numbers of input 0; of integers of 16 bits any of them. */
static bool check_squares(struct ctx *ctx, const struct node *node, int64_t n)
{
    const struct minifloat *format = type_minifloat(input_type(node, 0));
    const int64_t most = format ? exact_most_squares(format) : INT64_MAX;

    if (n <= most)
        return true;
    return diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                      "%s: %lld squares are added, expected at most %lld of %s", op_name(node->op),
                      (long long)n, (long long)most, dtype_name(input_type(node, 0)->dtype));
}

static bool check_scales(struct ctx *ctx, const struct node *node)
{
    return type_minifloat(input_type(node, 0)) ? exact_check_scales(ctx, node)
                                               : qnn_check_scales(ctx, node);
}

/* --- lp_normalize ----------------------------------------------------------------------------- */

bool infer_qnn_lp_normalize(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const int64_t p = node->attrs.lp_normalize.p;

    if (!check_scales(ctx, node) || !check_axis(ctx, node, x, &node->attrs.lp_normalize.axis))
        return false;
    if (p != 1 && p != 2)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: p is %lld, expected 1 or 2", op_name(node->op), (long long)p);
    if (!check_squares(ctx, node, x->dim[node->attrs.lp_normalize.axis]))
        return false;
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

struct fixed_point qnn_share_factor_of(double out_scale)
{
    return fixed_point_of(ldexp(1 / out_scale, -QNN_SHARE_BITS));
}

/* The line of n elements `step` apart that begins with element `at`. */
static void normalise_line(const struct qnn_scales *scales, int64_t p, const struct tensor *x,
                           int64_t at, int64_t n, int64_t step, struct tensor *out)
{
    const struct fixed_point factor = qnn_share_factor_of(scales->out_scale);
    struct inverse_root root = { 0, 62 };
    uint64_t norm = 0;

    for (int64_t i = 0; i < n; i++) {
        const int64_t d = tensor_int_at(x, at + i * step) - scales->in_zero;

        norm += (uint64_t)(p == 2 ? d * d : d < 0 ? -d : d);
    }
    if (norm > 0 && p == 2)
        root = inverse_root_of(norm);
    for (int64_t i = 0; i < n; i++) {
        const int64_t d = tensor_int_at(x, at + i * step) - scales->in_zero;
        const int64_t per_norm =
            p == 2 || norm == 0 ? root.significand : (int64_t)(((uint64_t)1 << 62) / norm);
        const int64_t share = shifted_to_nearest(d * per_norm, root.shift - QNN_SHARE_BITS);

        qnn_put_saturated(out, at + i * step,
                          fixed_point_apply(factor, share, ROUND_SINGLE) + scales->out_zero);
    }
}

bool eval_qnn_lp_normalize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                           struct tensor *out)
{
    const struct qnn_scales scales = qnn_scales_of(in);
    const struct type *type = &out->type;
    const int axis = (int)node->attrs.lp_normalize.axis;
    const int64_t n = type->dim[axis], step = type_span(type, axis + 1, type->rank);
    const int64_t n_lines = type_span(type, 0, axis) * step;

    if (type_minifloat(&in[0]->type))
        return eval_exact_lp_normalize(ctx, node, in, out);
    for (int64_t line = 0; line < n_lines; line++)
        normalise_line(&scales, node->attrs.lp_normalize.p, in[0],
                       line / step * n * step + line % step, n, step, out);
    return true;
}

/* --- lrn -------------------------------------------------------------------------------------- */

bool infer_qnn_lrn(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const struct lrn_attrs *attrs = &node->attrs.lrn;

    if (!check_scales(ctx, node) || !check_rank(ctx, node, 0, 2, MAX_RANK))
        return false;
    if (attrs->size < 1 || attrs->size > SPATIAL_MOST)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: size is %lld, expected 1 to %lld", op_name(node->op),
                          (long long)attrs->size, (long long)SPATIAL_MOST);
    if (!(attrs->alpha >= 0) || !(attrs->beta >= 0) || !(attrs->bias > 0))
        return diag_error(
            ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
            "%s: alpha %g, beta %g, bias %g: expected none negative, and a bias above 0",
            op_name(node->op), attrs->alpha, attrs->beta, attrs->bias);
    if (!spatial_check_layout(ctx, node, "layout", x->rank - 2, &node->attrs.lrn.layout) ||
        !check_squares(ctx, node, attrs->size))
        return false;
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

double qnn_lrn_reach(enum dtype dtype)
{
    return ldexp(1, 8 * (int)dtype_bytes(dtype));
}

struct qnn_lrn_powers qnn_lrn_powers_of(const struct lrn_attrs *attrs, double in_scale,
                                        double greatest)
{
    const double size = (double)attrs->size;
    const double per_square = attrs->alpha * in_scale * in_scale / (size * attrs->bias);
    const double most = 1 + fmin(per_square * size * greatest * greatest, 0x1p60);
    struct qnn_lrn_powers lrn = { .unit = 61 };

    while (lrn.unit > 0 && !(ldexp(most, lrn.unit) < 0x1p62))
        lrn.unit--;
    lrn.step = per_square > 0 ? (uint64_t)rint(ldexp(fmin(per_square, 0x1p60), lrn.unit)) : 0;
    for (int k = 0; k <= QNN_VALUES; k++)
        lrn.powers[k] = (uint32_t)rint(ldexp(pow(1 + k / 256.0, -attrs->beta), 31));
    for (int e = 0; e < QNN_LRN_EXPONENTS; e++)
        lrn.exponents[e] = (uint32_t)rint(ldexp(pow(2, -attrs->beta * e), 31));
    return lrn;
}

struct fixed_point qnn_lrn_factor_of(const struct lrn_attrs *attrs, const struct qnn_scales *scales)
{
    return fixed_point_of(ldexp(
        scales->in_scale * pow(attrs->bias, -attrs->beta) / scales->out_scale, -QNN_LRN_BITS));
}

int64_t qnn_lrn_power(const struct qnn_lrn_powers *lrn, uint64_t squares)
{
    const uint64_t sum = ((uint64_t)1 << lrn->unit) + lrn->step * squares;
    uint64_t fraction, k, rest, power;
    int exponent = 0;

    while (sum >> lrn->unit >> exponent > 1)
        exponent++;
    fraction = sum << (63 - lrn->unit - exponent);
    k = fraction >> 55 & 255;
    rest = fraction >> 39 & 65535;
    power = lrn->powers[k] - ((lrn->powers[k] - lrn->powers[k + 1]) * rest >> 16);
    return (int64_t)(power * lrn->exponents[exponent] >> 31);
}

bool eval_qnn_lrn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const struct lrn_attrs *attrs = &node->attrs.lrn;
    const struct qnn_scales scales = qnn_scales_of(in);
    const struct qnn_lrn_powers lrn =
        qnn_lrn_powers_of(attrs, scales.in_scale, qnn_lrn_reach(in[0]->type.dtype));
    const struct fixed_point factor = qnn_lrn_factor_of(attrs, &scales);
    const struct type *type = &out->type;
    const int axis = layout_channel_axis(attrs->layout, type->rank);
    const int64_t channels = type->dim[axis], n = type_elements(type);
    const int64_t step = type_span(type, axis + 1, type->rank);
    const int64_t before = (attrs->size - 1) / 2, after = attrs->size - 1 - before;

    if (type_minifloat(&in[0]->type))
        return eval_exact_lrn(ctx, node, in, out);
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / step % channels, d = tensor_int_at(in[0], i) - scales.in_zero;
        const int64_t from = c > before ? c - before : 0;
        const int64_t to = channels - 1 - c > after ? c + after : channels - 1;
        uint64_t squares = 0;

        for (int64_t k = from; k <= to; k++) {
            const int64_t near = tensor_int_at(in[0], i + (k - c) * step) - scales.in_zero;

            squares += (uint64_t)(near * near);
        }
        qnn_put_saturated(out, i,
                          fixed_point_apply(factor,
                                            shifted_to_nearest(d * qnn_lrn_power(&lrn, squares),
                                                               31 - QNN_LRN_BITS),
                                            ROUND_SINGLE) +
                              scales.out_zero);
    }
    return true;
}
