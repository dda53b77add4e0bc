/* qnn_norm.c - qnn.layer_norm, qnn.instance_norm and qnn.group_norm: nn.layer_norm and its kin of
 * quantised values. Inputs: x, in_scale, in_zero (without effect: the mean is subtracted),
 * out_scale, out_zero, scale and bias of f32 (layer_norm: or no bias), which compiled code has as
 * integers of 32 bits.
 *
 * Of a block of n quantised values x, sums in 64 bits, all of it exact but for what is said:
 *
 * S, Q      the sums of x and of x^2
 * V         n * Q - S^2, which is n^2 times the variance
 * W         V * 4^fraction + epsilon, where epsilon is that of the operator times n^2 * 4^fraction
 * / in_scale^2, to nearest. `fraction` is the greatest for which all V fit into 62 bits r         1
 * / sqrt(W), too great or too small by less than 2^-30 of it (inverse_root_of) z         (n * x -
 * S) * 2^fraction * r, to nearest multiple of 2^-16, ties up; 0 where V is 0 result saturate((z *
 * scale + bias) to nearest, ties up, + out_zero), scale and bias rounded to 2^-shift steps of the
 * result: `shift` is the greatest, at most 30, for which all fit into 30 bits
 *
 * So a result is off by half a step, and by 2^-17 * (scale / out_scale) + 2^-30 of itself. V fits
 * into 62 bits for blocks of 2^24 8-bit values, 2^16 of 16 bits: longer ones are refused.
 *
 * Narrow floats: exact.h (exact_norm). */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"

enum { OUT_SCALE = 3, OUT_ZERO, SCALE, BIAS };

int64_t qnn_norm_longest(enum dtype dtype)
{
    return (int64_t)1 << (dtype_bytes(dtype) == 1 ? 24 : 16);
}

/* The root of x >= 2^62, rounded down, bit by bit. */
static uint32_t root_of(uint64_t x)
{
    uint32_t root = 0;

    for (uint32_t bit = (uint32_t)1 << 31; bit > 0; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

struct inverse_root inverse_root_of(uint64_t x)
{
    struct inverse_root of = { .shift = 62 };

    for (; x >> 62 == 0; x <<= 2)
        of.shift--;
    of.significand = (uint32_t)(((uint64_t)1 << 62) / root_of(x));
    return of;
}

static int bits_of(int64_t n)
{
    int bits = 0;

    while (((int64_t)1 << bits) < n)
        bits++;
    return bits;
}

int32_t qnn_norm_steps(double number, double out_scale, int shift)
{
    const double steps = rint(ldexp(number / out_scale, shift));

    return isnan(steps) ? 0 : (int32_t)fmax(fmin(steps, 0x1p30), -0x1p30);
}

static double greatest_of(const struct tensor *vector)
{
    const int64_t n = vector ? type_elements(&vector->type) : 0;
    double greatest = 0;

    for (int64_t i = 0; i < n; i++)
        greatest = fmax(greatest, fabs(tensor_at(vector, i)));
    return greatest;
}

double qnn_norm_greatest(const struct tensor *scale, const struct tensor *bias)
{
    return fmax(greatest_of(scale), greatest_of(bias));
}

struct qnn_norm qnn_norm_of(const struct qnn_scales *scales, double epsilon, enum dtype dtype,
                            int64_t n, const struct tensor *scale, const struct tensor *bias)
{
    const double steps = qnn_norm_greatest(scale, bias) / scales->out_scale;
    struct qnn_norm norm = { .fraction = 31 - bits_of(n) - (dtype_bytes(dtype) == 1 ? 7 : 15),
                             .shift = 30 };
    const double per_step = (double)n / scales->in_scale;
    const double wanted = rint(ldexp(epsilon * per_step * per_step, 2 * norm.fraction));

    norm.epsilon = wanted > 0 ? (uint64_t)fmin(wanted, 0x1p62) : 0;
    while (norm.shift > 0 && !(ldexp(steps, norm.shift) <= 0x1p30))
        norm.shift--;
    return norm;
}

bool infer_qnn_norm(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const struct minifloat *format = type_minifloat(x);
    struct type first;
    int64_t longest;

    if (!(format ? exact_check_scales(ctx, node) : qnn_check_scales(ctx, node)) ||
        !norm_check(ctx, node, SCALE))
        return false;
    longest = format ? exact_most_squares(format) : qnn_norm_longest(x->dtype);
    first = norm_first(node, x);
    if (norm_blocks_of(node, &first).size > longest)
        return diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                          "%s: %lld elements share a mean, expected at most %lld of %s",
                          op_name(node->op), (long long)norm_blocks_of(node, &first).size,
                          (long long)longest, dtype_name(x->dtype));
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

/* z of each element of a block, in 2^-16. */
static void normalise(const struct qnn_norm *norm, const struct tensor *x, int64_t start, int64_t n,
                      int64_t *z)
{
    int64_t sum = 0;
    uint64_t squares = 0, spread;
    struct inverse_root root;

    for (int64_t i = 0; i < n; i++) {
        const int64_t v = tensor_int_at(x, start + i);

        sum += v;
        squares += (uint64_t)(v * v);
    }
    spread =
        (uint64_t)n * squares - (uint64_t)(sum < 0 ? -sum : sum) * (uint64_t)(sum < 0 ? -sum : sum);
    if (spread > 0)
        root = inverse_root_of((spread << 2 * norm->fraction) + norm->epsilon);
    for (int64_t i = 0; i < n; i++)
        z[i] = spread == 0 ? 0
                           : shifted_to_nearest((n * tensor_int_at(x, start + i) - sum) *
                                                    (int64_t)root.significand,
                                                root.shift - norm->fraction - QNN_NORM_BITS);
}

static void eval_quantized(const struct node *node, const struct tensor *const *in,
                           struct tensor *out)
{
    const char *layout = norm_is_last(node) ? "NHWC" : "NCHW";
    const struct tensor *bias = node->n_inputs > BIAS ? in[BIAS] : NULL;
    struct bulk bulk = { NULL, 0 };
    const struct tensor x = tensor_channels_first(&bulk, in[0], layout);
    struct tensor y = tensor_first_for(&bulk, out, layout);
    const struct norm_blocks blocks = norm_blocks_of(node, &x.type);
    const struct qnn_scales scales = qnn_scales_of(in);
    const struct qnn_norm norm = qnn_norm_of(&scales, node->attrs.norm.epsilon, in[0]->type.dtype,
                                             blocks.size, in[SCALE], bias);
    const int64_t n = type_elements(&out->type), one = (int64_t)1 << QNN_NORM_BITS;
    int64_t *z = bulk_alloc(&bulk, (size_t)(n > 0 ? blocks.size : 1) * sizeof *z);

    for (int64_t start = 0; start < n; start += blocks.size) {
        normalise(&norm, &x, start, blocks.size, z);
        for (int64_t i = 0; i < blocks.size; i++) {
            const int64_t c = (start + i) / blocks.scale_size % blocks.n_scales;
            const int64_t scale =
                qnn_norm_steps(tensor_at(in[SCALE], c), scales.out_scale, norm.shift);
            const int64_t shift =
                bias ? qnn_norm_steps(tensor_at(bias, c), scales.out_scale, norm.shift) : 0;

            qnn_put_saturated(
                &y, start + i,
                shifted_to_nearest(z[i] * scale + shift * one, norm.shift + QNN_NORM_BITS) +
                    scales.out_zero);
        }
    }
    tensor_store_first(&y, layout, out);
    bulk_release(&bulk);
}

bool eval_qnn_norm(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                   struct tensor *out)
{
    if (type_minifloat(&in[0]->type))
        return eval_exact_norm(ctx, node, in, out);
    eval_quantized(node, in, out);
    return true;
}
