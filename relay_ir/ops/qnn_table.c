/* qnn_table.c - what goes through a table of 256 entries, one for each code of 8 bits.
 *
 * qnn.lut      y = table[x - least code], or table[channel, x - least code] with the channel along
 *              `axis`. Of FP8 (and other narrow floats of 8 bits) quantised values are looked up as u8,
 *              and the table may be i32. Inputs: x, table, out_scale, out_zero: the latter say what
 *              the table's numbers mean, and are read by nobody here. Quantised values of 16 bits: qnn_pwl.c
 * qnn.softmax  see qnn_softmax_of. Inputs: x, in_scale, in_zero (without effect: only differences
 *              count), out_scale, out_zero. qnn.log_softmax has the same inputs, see
 *              qnn_log_softmax_of. Powers of differences of 16 bits are products of two entries
 *
 * The greatest of a line has the power 2^31, so that the sum of a line is never 0; it has 64 bits.
 * The one division of a line rounds down, which is less than 2^-22 of a step of 1/256; the result
 * is rounded to nearest, ties up */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

static bool check_8_bits(struct ctx *ctx, const struct node *node)
{
    const enum dtype dtype = input_type(node, 0)->dtype;

    if (dtype == DTYPE_I8 || dtype == DTYPE_U8)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node), "input 0 of %s is %s, expected i8 or u8",
                      op_name(node->op), dtype_name(dtype));
}

static bool is_8_bit_float(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    return format && minifloat_bits(format) == 8;
}

bool infer_qnn_lut(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *table = input_type(node, 1);
    int64_t *axis = &node->attrs.axis.axis;

    if ((!is_8_bit_float(x) && !check_8_bits(ctx, node)) ||
        (!is_8_bit_float(table) && !(is_8_bit_float(x) && table->dtype == DTYPE_I32) &&
         !qnn_check_quantized(ctx, node, 1)) ||
        !qnn_check_scale(ctx, node, 2, 1) || !qnn_check_zero(ctx, node, 3, table->dtype, 1))
        return false;
    if (table->rank == 1)
        *axis = 0;
    else if (table->rank == 2 && !check_axis(ctx, node, x, axis))
        return false;
    if (table->rank < 1 || table->rank > 2 || table->dim[table->rank - 1] != QNN_VALUES ||
        (table->rank == 2 && table->dim[0] != x->dim[*axis]))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "input 1 of %s has shape %s, expected 256, or one such row for each of "
                          "the channels along the axis",
                          op_name(node->op), shape_text(&ctx->perm, table));
    set_scaled_output(node, table->dtype, x, 2, 3, -1);
    return true;
}

/* Elements of one type. */
static void copy_element(const struct tensor *to, int64_t i, const struct tensor *from, int64_t k)
{
    memcpy(element_at(to, i), element_at(from, k), dtype_bytes(to->type.dtype));
}

bool eval_qnn_lut(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const int64_t n = type_elements(&out->type), axis = node->attrs.axis.axis;
    const bool quantized = dtype_kind(in[0]->type.dtype) == KIND_MINIFLOAT;
    const int64_t least = quantized ? 0 : (int64_t)dtype_least(in[0]->type.dtype);
    const int64_t rows = in[1]->type.rank == 2 ? in[1]->type.dim[0] : 1;
    const int64_t inner = rows > 1 ? type_span(&out->type, (int)axis + 1, out->type.rank) : 1;

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = quantized ? ((const uint8_t *)in[0]->data)[i] : tensor_int_at(in[0], i);

        copy_element(out, i, in[1], x - least + i / inner % rows * QNN_VALUES);
    }
    return true;
}

void qnn_powers_of(double scale, uint32_t powers[QNN_POWERS])
{
    for (int d = 0; d < QNN_POWERS; d++) {
        const int steps = d < QNN_VALUES ? d : (d - QNN_VALUES) * QNN_VALUES;

        powers[d] = (uint32_t)fmin(rint(ldexp(exp(-steps * scale), 31)), 0x1p31);
    }
}

uint32_t qnn_power_at(const uint32_t powers[QNN_POWERS], int64_t d)
{
    return (uint32_t)((uint64_t)powers[QNN_VALUES + d / QNN_VALUES] * powers[d % QNN_VALUES] >> 31);
}

struct qnn_softmax qnn_softmax_of(double in_scale, double out_scale)
{
    struct qnn_softmax softmax = { .shift = 31 };
    int exponent;

    qnn_powers_of(in_scale, softmax.powers);
    if (!(out_scale > 0) || isinf(out_scale)) /* no scale: 0 */
        return softmax;
    frexp(out_scale, &exponent);
    if (exponent > -31) /* the greatest shift with a numerator of 2^63 at most */
        softmax.shift += exponent > 0 ? 31 : 31 + exponent;
    softmax.numerator = (uint64_t)fmin(rint(ldexp(1 / out_scale, softmax.shift)), 0x1p63);
    return softmax;
}

struct qnn_log_softmax qnn_log_softmax_of(double in_scale, double out_scale)
{
    const struct qnn_softmax softmax = qnn_softmax_of(in_scale, 1);
    struct qnn_log_softmax of = { .step = 0 };

    memcpy(of.powers, softmax.powers, sizeof of.powers);
    if (!(out_scale > 0) || isinf(out_scale)) /* no scale: 0 */
        return of;
    for (int k = 0; k <= QNN_VALUES; k++)
        of.logs[k] =
            (uint32_t)fmin(rint(ldexp(log1p(k / 256.0) / out_scale, 16)), (double)UINT32_MAX);
    if (in_scale > 0)
        of.step = (uint64_t)fmin(rint(ldexp(in_scale / out_scale, 16)), 0x1p46);
    return of;
}

static bool infer_line(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!qnn_check_quantized(ctx, node, 0) || !qnn_check_scales(ctx, node) ||
        !check_axis(ctx, node, x, &node->attrs.axis.axis))
        return false;
    set_scaled_output(node, input_type(node, 4)->dtype, x, 3, 4, -1);
    return true;
}

bool infer_qnn_softmax(struct ctx *ctx, struct node *node)
{
    return dtype_kind(input_type(node, 0)->dtype) == KIND_MINIFLOAT ? infer_exact_softmax(ctx, node)
                                                                    : infer_line(ctx, node);
}

bool infer_qnn_log_softmax(struct ctx *ctx, struct node *node)
{
    return dtype_kind(input_type(node, 0)->dtype) == KIND_MINIFLOAT
               ? infer_exact_log_softmax(ctx, node)
               : infer_line(ctx, node);
}

/* The line of n elements `step` apart that begins with element `at`. */
static void softmax_line(const struct qnn_softmax *softmax, const struct tensor *x, int64_t at,
                         int64_t n, int64_t step, int64_t zero, struct tensor *out)
{
    int64_t highest = tensor_int_at(x, at);
    uint64_t sum = 0, factor;

    for (int64_t i = 1; i < n; i++) {
        const int64_t v = tensor_int_at(x, at + i * step);

        highest = v > highest ? v : highest;
    }
    for (int64_t i = 0; i < n; i++)
        sum += qnn_power_at(softmax->powers, highest - tensor_int_at(x, at + i * step));
    assert(sum > 0); /* of the greatest, at least */
    factor = softmax->numerator / sum;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t power =
            qnn_power_at(softmax->powers, highest - tensor_int_at(x, at + i * step));
        const uint64_t half = (uint64_t)1 << (softmax->shift - 1);

        qnn_put_saturated(out, at + i * step,
                          (int64_t)((power * factor + half) >> softmax->shift) + zero);
    }
}

bool eval_qnn_softmax(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    if (dtype_kind(in[0]->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_softmax(ctx, node, in, out);

    const struct qnn_scales scales = qnn_scales_of(in);
    const struct qnn_softmax softmax = qnn_softmax_of(scales.in_scale, scales.out_scale);
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[0]->type;
    const int64_t outer = type_span(x, 0, axis), inner = type_span(x, axis + 1, x->rank);

    (void)ctx;
    for (int64_t i = 0; x->dim[axis] > 0 && i < outer * inner; i++)
        softmax_line(&softmax, in[0], i / inner * x->dim[axis] * inner + i % inner, x->dim[axis],
                     inner, scales.out_zero, out);
    return true;
}

uint64_t qnn_log_of(const uint32_t logs[QNN_VALUES + 1], uint64_t sum)
{
    int exponent = 31;
    uint64_t fraction, k, rest;

    while (sum >> exponent > 1)
        exponent++;
    fraction = sum << (63 - exponent);
    k = fraction >> 55 & 255;
    rest = fraction >> 39 & 65535;
    return (uint64_t)(exponent - 31) * logs[QNN_VALUES] + logs[k] +
           ((uint64_t)(logs[k + 1] - logs[k]) * rest >> 16);
}

/* As softmax_line. */
static void log_softmax_line(const struct qnn_log_softmax *of, const struct tensor *x, int64_t at,
                             int64_t n, int64_t step, int64_t zero, struct tensor *out)
{
    int64_t highest = tensor_int_at(x, at);
    uint64_t sum = 0, log;

    for (int64_t i = 1; i < n; i++) {
        const int64_t v = tensor_int_at(x, at + i * step);

        highest = v > highest ? v : highest;
    }
    for (int64_t i = 0; i < n; i++)
        sum += qnn_power_at(of->powers, highest - tensor_int_at(x, at + i * step));
    log = qnn_log_of(of->logs, sum);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t below = (uint64_t)(highest - tensor_int_at(x, at + i * step));

        qnn_put_saturated(out, at + i * step,
                          zero - (int64_t)((below * of->step + log + 32768) >> 16));
    }
}

bool eval_qnn_log_softmax(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                          struct tensor *out)
{
    if (dtype_kind(in[0]->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_log_softmax(ctx, node, in, out);

    const struct qnn_scales scales = qnn_scales_of(in);
    const struct qnn_log_softmax of = qnn_log_softmax_of(scales.in_scale, scales.out_scale);
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[0]->type;
    const int64_t outer = type_span(x, 0, axis), inner = type_span(x, axis + 1, x->rank);

    (void)ctx;
    for (int64_t i = 0; x->dim[axis] > 0 && i < outer * inner; i++)
        log_softmax_line(&of, in[0], i / inner * x->dim[axis] * inner + i % inner, x->dim[axis],
                         inner, scales.out_zero, out);
    return true;
}
