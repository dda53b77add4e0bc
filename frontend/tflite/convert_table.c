/* convert_table.c - RELU, RELU6, LEAKY_RELU, LOGISTIC and TANH: of quantised values, a table of what the kernel
 * computes for each of the 256; of floats, the operator itself. */
#include <math.h>

#include "frontend/tflite/convert_compose.h"
#include "relay_ir/ops/q15.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"

/* What the function of a code needs; `steps` is the code's distance from its zero point. */
struct curve {
    int64_t (*of)(const struct curve *curve, int64_t steps);
    struct fixed_point factor, below; /* of steps, and of those below zero */
    int64_t radius;                   /* beyond which logistic and tanh are constant */
    int64_t zero, least, most;        /* of the result */
    bool turns;                       /* below zero the sign changes */
};

static int64_t scaled(const struct curve *f, int64_t steps)
{
    return fixed_point_apply(f->factor, steps, ROUND_DOUBLE);
}

static int64_t leaky(const struct curve *f, int64_t steps)
{
    const int64_t y = fixed_point_apply(f->below, steps, ROUND_DOUBLE);

    return steps >= 0 ? scaled(f, steps) : f->turns ? -y : y;
}

static int64_t bounded(const struct curve *f, int64_t steps, int64_t y)
{
    return steps <= -f->radius ? -QNN_VALUES : steps >= f->radius ? QNN_VALUES : y;
}

static int64_t logistic(const struct curve *f, int64_t steps)
{
    const int64_t within = steps > f->radius ? f->radius : steps < -f->radius ? -f->radius : steps;

    return bounded(f, steps, q31_shift_down(q31_logistic((int32_t)scaled(f, within)), 23));
}

static int64_t tangent(const struct curve *f, int64_t steps)
{
    const int64_t within = steps > f->radius ? f->radius : steps < -f->radius ? -f->radius : steps;

    return bounded(f, steps, q31_shift_down(q31_tanh((int32_t)scaled(f, within)), 24));
}

static struct value *looked_up(struct tfl_node *node, const struct curve *curve)
{
    const struct type type = type_make(DTYPE_I8, 1, (const int64_t[]){ QNN_VALUES });
    const union attrs attrs = { .axis = { .axis = 0 } };
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    int8_t *table = tfl_payload(node, &type);

    for (int code = -128; table && code < 128; code++) {
        const int64_t steps = code - tfl_zero(x);
        const int64_t number = curve->of(curve, steps) + curve->zero;

        table[code + 128] = (int8_t)(number < curve->least  ? curve->least
                                     : number > curve->most ? curve->most
                                                            : number);
    }
    return tfl_build(
        node, OP_QNN_LUT, &attrs, "codes", 4,
        (struct value *const[]){ tfl_value(node, 0), tfl_made(node, &type, table, "table"),
                                 tfl_scale_of(node, y, "scale"), tfl_zero_of(node, y, "zero") });
}

static bool check_quantized(struct tfl_node *node)
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];

    return tfl_check_type(node, x, DTYPE_I8) && tfl_check_type(node, y, DTYPE_I8) &&
           tfl_check_scale(node, x) && tfl_check_scale(node, y);
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* RELU has scales of its own; the others bound what they read. */
static struct value *bounded_quantized(struct tfl_node *node, double most)
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    struct curve curve = { .of = scaled,
                           .factor = fixed_point_of(tfl_scale(x, 0) / tfl_scale(y, 0)),
                           .zero = tfl_zero(y),
                           .least = tfl_code(y, 0),
                           .most = 127 };

    if (curve.least < -128)
        curve.least = -128;
    if (isinf(most))
        return looked_up(node, &curve);
    if (!tfl_check_same_scale(node, x, y))
        return NULL;
    curve.most = tfl_code(y, (float)most);
    if (curve.most <= 127)
        return looked_up(node, &curve);
    tfl_unsupported(node, "%g is beyond the codes of its scale", most);
    return NULL;
}

/* Quantised values of 16 bits: what the tables have is computed. */
static struct value *wide_bounds(struct tfl_node *node, double most)
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const union attrs attrs = {
        .clip = { .a_min = 0,
                  .a_max =
                      isinf(most) ? INT16_MAX : fmin((double)tfl_code(y, (float)most), INT16_MAX) }
    };
    const double factor = tfl_scale(x, 0) / tfl_scale(y, 0);

    if (!tfl_check_quantized(node) || (!isinf(most) && !tfl_check_same_scale(node, x, y)))
        return NULL;
    return tfl_build1(node, OP_CLIP, &attrs, "bounded",
                      isinf(most)
                          ? tfl_quantized(node, tfl_steps(node, 0, 0, "steps"), factor, "codes")
                          : tfl_value(node, 0));
}

bool convert_tfl_relu(struct tfl_node *node)
{
    const double most = node->arg ? node->arg : (double)INFINITY;
    const union attrs attrs = { .clip = { .a_min = 0, .a_max = most } };

    if (!tfl_check(node, 1, 1, 1))
        return false;
    if (node->inputs[0]->type.dtype == DTYPE_F32)
        return tfl_output(node, 0, tfl_build1(node, OP_CLIP, &attrs, "y", tfl_value(node, 0)));
    if (node->inputs[0]->type.dtype == DTYPE_I16)
        return tfl_output(node, 0, wide_bounds(node, most));
    return check_quantized(node) && tfl_output(node, 0, bounded_quantized(node, most));
}

static struct value *wide_leaky(struct tfl_node *node, float alpha)
{
    const double in = tfl_scale(node->inputs[0], 0), out = tfl_scale(node->outputs[0], 0);
    struct value *steps = tfl_steps(node, 0, 0, "steps"), *down = steps;

    if (alpha < 0)
        down = steps ? tfl_build1(node, OP_NEGATIVE, NULL, "turned", steps) : NULL;
    return tfl_where(
        node, "codes",
        tfl_two(node, OP_GREATER_EQUAL, "above", steps, tfl_number(node, DTYPE_I32, 0, "null")),
        tfl_quantized(node, steps, in / out, "up"),
        tfl_quantized(node, down, fabs(in * (double)alpha / out), "down"));
}

bool convert_tfl_leaky_relu(struct tfl_node *node)
{
    const float alpha = (float)tfl_real(node, 0, 0);
    const union attrs attrs = { .alpha_beta = { .alpha = (double)alpha } };
    const struct tfl_tensor *x, *y;
    double in, out;

    if (!tfl_check(node, 1, 1, 1))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    if (x->type.dtype == DTYPE_F32)
        return tfl_output(node, 0,
                          tfl_build1(node, OP_LEAKY_RELU, &attrs, "y", tfl_value(node, 0)));
    if (x->type.dtype == DTYPE_I16)
        return isfinite(alpha) && tfl_check_quantized(node)
                   ? tfl_output(node, 0, wide_leaky(node, alpha))
                   : tfl_unsupported(node, "alpha %g of INT16 codes", (double)alpha);
    if (!check_quantized(node))
        return false;
    if (!isfinite(alpha))
        return tfl_unsupported(node, "alpha is %g", (double)alpha);
    in = tfl_scale(x, 0);
    out = tfl_scale(y, 0);
    return tfl_output(
        node, 0,
        looked_up(node, &(struct curve){ .of = leaky,
                                         .factor = fixed_point_of(in / out),
                                         .below = fixed_point_of(fabs(in * (double)alpha / out)),
                                         .zero = tfl_zero(y),
                                         .least = -128,
                                         .most = 127,
                                         .turns = alpha < 0 }));
}

/* --- logistic and tanh ------------------------------------------------------------------------ */

/* What of a scale is taken for a power of two. */
static bool near_power(double scale, int *power)
{
    *power = (int)lrint(log2(scale));
    return fabs(log2(scale) - *power) < 1e-3;
}

/* Quantised values of 16 bits as thirds of 2^-12: a factor of 15 bits, shifted down to nearest, ties up. */
static struct value *thirds(struct tfl_node *node, bool tanh)
{
    const double scale = tfl_scale(node->inputs[0], 0);
    double factor = scale * 4096 * 3;
    struct value *x = tfl_steps(node, 0, 0, "steps");
    int power, shift = 0;

    if (near_power(scale, &power) && (power == -12 || (tanh && power == -11)))
        factor = 3 << (power + 12);
    else
        for (; factor <= 32767.0 / 2 && shift <= 30; shift++)
            factor *= 2;
    x = tfl_two(node, OP_MULTIPLY, "scaled", x,
                tfl_number(node, DTYPE_I32, floor(factor), "factor"));
    if (shift == 0)
        return x;
    x = tfl_two(node, OP_ADD, "added", x, tfl_number(node, DTYPE_I32, ldexp(1, shift - 1), "half"));
    return tfl_two(node, OP_RIGHT_SHIFT, "thirds", x, tfl_number(node, DTYPE_I32, shift, "shift"));
}

/* The curve of a positive x: linear between entries of which the last goes on as it is. */
static struct value *along_table(struct tfl_node *node, struct value *x, int bits, int32_t last)
{
    const union attrs most = { .clip = { .a_min = 0, .a_max = Q15_ENTRIES - 1 } };
    const union attrs axis = { .axis = { .axis = 0 } };
    const struct type type = type_make(DTYPE_I32, 1, (const int64_t[]){ Q15_ENTRIES });
    int64_t first[Q15_ENTRIES], step[Q15_ENTRIES] = { 0 };
    struct value *at, *part;

    for (int i = 0; i < Q15_ENTRIES - 1; i++) {
        first[i] = (int64_t)q15_entry(i) << bits;
        step[i] = q15_entry(i + 1) - q15_entry(i);
    }
    first[Q15_ENTRIES - 1] = last;
    at = tfl_two(node, OP_RIGHT_SHIFT, "which", x, tfl_number(node, DTYPE_I32, bits, "bits"));
    at = at ? tfl_build1(node, OP_CLIP, &most, "entry", at) : NULL;
    part = tfl_two(node, OP_BITWISE_AND, "part", x,
                   tfl_number(node, DTYPE_I32, (1 << bits) - 1, "mask"));
    part = tfl_two(node, OP_MULTIPLY, "rise", part,
                   tfl_build(node, OP_TAKE, &axis, "step", 2,
                             (struct value *const[]){
                                 tfl_integers(node, &type, step, "steps_of_curve"), at }));
    return tfl_two(
        node, OP_ADD, "curve",
        tfl_build(node, OP_TAKE, &axis, "first", 2,
                  (struct value *const[]){ tfl_integers(node, &type, first, "curve_at"), at }),
        part);
}

/* Quantised values of 16 bits; relay_ir/ops/q15.h has the same for one number. */
static struct value *wide_curve(struct tfl_node *node, bool tanh)
{
    const int bits = tanh ? 8 : 9, down = tanh ? 8 : 10;
    const double middle = tanh ? -0x1p23 : 0, mirrored = tanh ? 0x1p23 : 0x1p25;
    const double half = tanh ? 128 : 512;
    struct value *x = thirds(node, tanh), *y, *above, *below;

    if (!x)
        return NULL;
    y = along_table(node, tfl_build1(node, OP_ABS, NULL, "magnitude", x), bits,
                    tanh ? 0xFFFF << 8 : 0x7FFF << 10);
    above =
        tfl_two(node, OP_ADD, "above", y, tfl_number(node, DTYPE_I32, middle + half, "to_middle"));
    below = tfl_two(node, OP_SUBTRACT, "below",
                    tfl_number(node, DTYPE_I32, mirrored + half - 1, "from_mirror"), y);
    y = tfl_where(
        node, "curve_of_sign",
        tfl_two(node, OP_GREATER_EQUAL, "positive", x, tfl_number(node, DTYPE_I32, 0, "null")),
        above, below);
    return tfl_cast(node, DTYPE_I16, "codes",
                    tfl_two(node, OP_RIGHT_SHIFT, "shifted_down", y,
                            tfl_number(node, DTYPE_I32, down, "fraction")));
}

static bool convert_wide_curve(struct tfl_node *node, bool tanh)
{
    const struct tfl_tensor *y = node->outputs[0];
    int power;

    if (!tfl_check_quantized(node))
        return false;
    if (!near_power(tfl_scale(y, 0), &power) || power != -15)
        return tfl_unsupported(node, "a result of scale %g, expected 2^-15", tfl_scale(y, 0));
    if (tfl_scale(node->inputs[0], 0) * 4096 * 3 >= 32768 ||
        tfl_scale(node->inputs[0], 0) < 0x1p-44) /* no factor of 15 bits */
        return tfl_unsupported(node, "an input of scale %g, expected 2^-44 to 2.66",
                               tfl_scale(node->inputs[0], 0));
    return tfl_output(node, 0, wide_curve(node, tanh));
}

/* The kernels assume these scales and zero points of their results. */
bool convert_tfl_sigmoid(struct tfl_node *node)
{
    const bool tanh = node->arg == OP_TANH;
    const double scale = tanh ? 1.0 / 128 : 1.0 / 256;
    const int zero = tanh ? 0 : -128;
    const struct tfl_tensor *x, *y;
    struct fixed_point factor;

    if (!tfl_check(node, 1, 1, 1))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    if (x->type.dtype == DTYPE_F32)
        return tfl_output(node, 0,
                          tfl_build1(node, (enum op)node->arg, NULL, "y", tfl_value(node, 0)));
    if (x->type.dtype == DTYPE_I16)
        return convert_wide_curve(node, tanh);
    if (!check_quantized(node))
        return false;
    if (tfl_scale(y, 0) != scale || tfl_zero(y) != zero)
        return tfl_unsupported(node, "a result of scale %g and zero point %lld, expected %g and %d",
                               tfl_scale(y, 0), (long long)tfl_zero(y), scale, zero);
    factor = fixed_point_of(tfl_scale(x, 0) * 0x1p27);
    return tfl_output(node, 0,
                      looked_up(node, &(struct curve){ .of = tanh ? tangent : logistic,
                                                       .factor = factor,
                                                       .radius = tfl_radius(4, factor.shift),
                                                       .zero = zero,
                                                       .least = -128,
                                                       .most = 127 }));
}
