/* qnn_pwl.c - a function of 16-bit values that is linear piece by piece: what a table is to 8-bit
 * values. Inputs: x, starts (n, u16), lines (n, 2 of i32), out_scale, out_zero; the latter two say
 * what the result means, and the scale is read by nobody here.
 *
 *     code   = x - least code
 *     k      = the last segment with starts[k] <= code; starts[0] = 0
 *     v      = lines[k][0] + lines[k][1] * (code - starts[k]), in 2^-qnn_pwl_bits steps
 *     result = saturate(v to the nearest step, ties up + out_zero)
 *
 * v stays within 2^30, so that 32 bits do for all of it. runtime/embed/on_segment.h is the same for
 * generated C.
 *
 * qnn_pwl_fit finds the segments. From the first code that none covers yet, it takes the longest
 * line with whole numbers that comes within `error` of what is wanted of every code that it covers;
 * where the line begins is tried in five places. What lies beyond the result's range may be as far
 * beyond as it likes. So bends and jumps cost a segment each, and a function that bends everywhere,
 * with f'' in steps per squared code, the integral of sqrt(|f''| / (16 * error)). */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

enum { X, STARTS, LINES, OUT_SCALE, OUT_ZERO };

#define REACH ((int64_t)1 << 30)

int qnn_pwl_bits(enum dtype out)
{
    return dtype_bytes(out) == 1 ? 21 : 13;
}

/* --- the operator ----------------------------------------------------------------------------- */

/* The first code behind segment k. */
static int64_t end_of(const struct tensor *starts, int64_t k)
{
    return k + 1 < type_elements(&starts->type) ? tensor_int_at(starts, k + 1) : QNN_WIDE_VALUES;
}

static int64_t on_line(const struct tensor *lines, int64_t k, int64_t distance)
{
    return tensor_int_at(lines, 2 * k) + tensor_int_at(lines, 2 * k + 1) * distance;
}

static bool is_within(int64_t v)
{
    return v >= -REACH && v <= REACH;
}

/* Starts rise from 0, and both ends of every line are within reach. */
static bool segments_are_fine(const struct node *node)
{
    const struct tensor starts = value_tensor(node->inputs[STARTS]);
    const struct tensor lines = value_tensor(node->inputs[LINES]);

    for (int64_t k = 0; k < type_elements(&starts.type); k++) {
        const int64_t start = tensor_int_at(&starts, k), end = end_of(&starts, k);

        if (start >= end || (k == 0 && start != 0) || !is_within(on_line(&lines, k, 0)) ||
            !is_within(on_line(&lines, k, end - 1 - start)))
            return false;
    }
    return true;
}

static bool check_segments(struct ctx *ctx, const struct node *node)
{
    const struct type *starts = input_type(node, STARTS), *lines = input_type(node, LINES);
    const int64_t n = starts->rank == 1 ? starts->dim[0] : 0;

    if (starts->dtype != DTYPE_U16 || lines->dtype != DTYPE_I32 || n < 1 || n > QNN_PWL_MOST ||
        lines->rank != 2 || lines->dim[0] != n || lines->dim[1] != 2)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "inputs 1 and 2 of %s are %s of %s and %s of %s, expected n of u16 and n "
                          "x 2 of i32, n from 1 to %d",
                          op_name(node->op), shape_text(&ctx->perm, starts),
                          dtype_name(starts->dtype), shape_text(&ctx->perm, lines),
                          dtype_name(lines->dtype), QNN_PWL_MOST);
    if (node->inputs[STARTS]->kind != VALUE_CONSTANT || node->inputs[LINES]->kind != VALUE_CONSTANT)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: the segments are not constants", op_name(node->op));
    if (!segments_are_fine(node))
        return diag_error(
            ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
            "%s: expected segments with ascending starts from 0, and lines within 2^30",
            op_name(node->op));
    return true;
}

bool infer_qnn_pwl(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, X);

    if (x->dtype != DTYPE_I16 && x->dtype != DTYPE_U16)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input 0 of %s is %s, expected i16 or u16", op_name(node->op),
                          dtype_name(x->dtype));
    if (!check_segments(ctx, node) || !qnn_check_scale(ctx, node, OUT_SCALE, 1) ||
        !qnn_check_quantized(ctx, node, OUT_ZERO) || !qnn_check_vector(ctx, node, OUT_ZERO, 1))
        return false;
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, x, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

static int64_t segment_of(const struct tensor *starts, int64_t code)
{
    int64_t k = 0, n = type_elements(&starts->type);

    while (n > 1) { /* it is one of n, from k on */
        const int64_t half = n / 2;

        if (tensor_int_at(starts, k + half) <= code) {
            k += half;
            n -= half;
        } else {
            n = half;
        }
    }
    return k;
}

bool eval_qnn_pwl(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const int64_t least = (int64_t)dtype_least(in[X]->type.dtype), n = type_elements(&out->type);
    const int64_t zero = tensor_int_at(in[OUT_ZERO], 0);

    (void)ctx;
    (void)node;
    for (int64_t i = 0; i < n; i++) {
        const int64_t code = tensor_int_at(in[X], i) - least, k = segment_of(in[STARTS], code);
        const int64_t v = on_line(in[LINES], k, code - tensor_int_at(in[STARTS], k));

        qnn_put_saturated(out, i, zero + shifted_to_nearest(v, qnn_pwl_bits(out->type.dtype)));
    }
    return true;
}

/* --- the segments ----------------------------------------------------------------------------- */

/* What a line may have at a code. */
struct gap {
    int64_t least, most;
};

struct fit {
    const double *wanted;
    double least, greatest; /* of the result */
    double error;
    int bits;
};

static double bounded(const struct fit *fit, int64_t code)
{
    return fmin(fmax(fit->wanted[code], fit->least), fit->greatest);
}

static struct gap gap_at(const struct fit *fit, int64_t code)
{
    const double at = bounded(fit, code);

    return (struct gap){
        at > fit->least ? (int64_t)ceil(ldexp(at - fit->error, fit->bits)) : -REACH * 3 / 4,
        at < fit->greatest ? (int64_t)floor(ldexp(at + fit->error, fit->bits)) : REACH * 3 / 4
    };
}

static int64_t divided_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The line from `value` at `start` on that covers most: where it ends, and its slope. */
static int64_t longest_line(const struct fit *fit, int64_t start, int64_t value, int64_t *slope)
{
    int64_t least = -2 * REACH, most = 2 * REACH, code = start + 1;

    *slope = 0;
    for (; code < QNN_WIDE_VALUES; code++) {
        const struct gap gap = gap_at(fit, code);
        const int64_t low = -divided_down(value - gap.least, code - start);
        const int64_t high = divided_down(gap.most - value, code - start);

        least = low > least ? low : least;
        most = high < most ? high : most;
        if (least > most)
            break;
        *slope = least + (most - least) / 2;
    }
    return code;
}

bool qnn_pwl_fit(const double wanted[QNN_WIDE_VALUES], const struct qnn_pwl_range *range,
                 struct qnn_pwl *out)
{
    const struct fit fit = { .wanted = wanted,
                             .least = (double)((int64_t)dtype_least(range->out) - range->zero),
                             .greatest =
                                 (double)((int64_t)dtype_greatest(range->out) - range->zero),
                             .error =
                                 dtype_bytes(range->out) == 1 ? QNN_PWL_ERROR_8 : QNN_PWL_ERROR_16,
                             .bits = qnn_pwl_bits(range->out) };
    int64_t start = 0;

    out->n = 0;
    while (start < QNN_WIDE_VALUES) {
        const int64_t centre = (int64_t)rint(ldexp(bounded(&fit, start), fit.bits));
        const int64_t reach = (int64_t)ldexp(fit.error, fit.bits);
        int64_t furthest = start, slope;

        if (out->n == QNN_PWL_MOST)
            return false;
        for (int i = -2; i <= 2; i++) {
            const int64_t value = centre + i * reach / 2;
            const int64_t end = longest_line(&fit, start, value, &slope);

            if (end <= furthest)
                continue;
            furthest = end;
            out->lines[out->n][0] = (int32_t)value;
            out->lines[out->n][1] = (int32_t)slope;
        }
        out->starts[out->n++] = (uint16_t)start;
        start = furthest;
    }
    return true;
}
