/* convert_unary.c - functions of one number: of floats (and of plain integers, where the kernels have them), the
 * operator itself; of quantised values, a table. */
#include <math.h>
#include <stdlib.h>

#include "frontend/tflite/convert_compose.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"

/* --- tables of what kernels compute in integers ----------------------------------------------- */

/* Distances are rescaled where scales differ. */
static bool absolutes(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const double in = tfl_scale(x, 0), out = tfl_scale(y, 0);
    const struct fixed_point factor = fixed_point_of(in / out);

    for (int i = 0; i < QNN_VALUES; i++) {
        const int64_t steps = llabs(i - 128 - tfl_zero(x));

        of[i] = tfl_zero(y) + (in == out ? steps : fixed_point_apply(factor, steps, ROUND_DOUBLE));
    }
    return true;
}

/* 0 stands for a number so small that its root's inverse is beyond all quantised values; what is below 0, which the
 * kernel refuses at run time, is taken for it. */
static bool inverse_roots(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    enum { SHIFT = 20 };
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const float root = sqrtf((float)tfl_scale(x, 0));
    struct fixed_point factor = fixed_point_of(1 / (double)(root * (float)tfl_scale(y, 0)));

    factor.shift -= SHIFT;
    if (factor.shift > 0)
        return tfl_unsupported(node, "a result's scale of %g, too fine for an input's of %g",
                               tfl_scale(y, 0), tfl_scale(x, 0));
    for (int i = 0; i < QNN_VALUES; i++) {
        const int64_t steps = i - 128 - tfl_zero(x);
        struct fixed_point inverse;

        inverse.multiplier = q31_inverse_root(steps > 0 ? (int32_t)steps : 1, &inverse.shift);
        inverse.shift += SHIFT;
        of[i] = steps <= 0
                    ? QNN_VALUES
                    : tfl_zero(y) + fixed_point_apply(factor,
                                                      fixed_point_apply(inverse, 1, ROUND_DOUBLE),
                                                      ROUND_DOUBLE);
    }
    return true;
}

static int32_t high_product(int32_t a, int32_t b)
{
    return a == INT16_MIN && b == INT16_MIN ? INT16_MAX : a * b / (1 << 15);
}

static int32_t high_product_to_nearest(int32_t a, int32_t b)
{
    const int32_t product = a * b;

    if (a == INT16_MIN && b == INT16_MIN)
        return INT16_MAX;
    return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

static int32_t shifted_up(int32_t x, int n)
{
    const int64_t shifted = (int64_t)x * ((int64_t)1 << n);

    return (int32_t)(shifted > INT16_MAX ? INT16_MAX : shifted < INT16_MIN ? INT16_MIN : shifted);
}

/* The multiplier's upper 16 bits, to nearest. */
static int32_t narrowed(struct fixed_point factor)
{
    return factor.multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX
                                                      : (factor.multiplier + (1 << 15)) >> 16;
}

/* x * min(max(x + 3, 0), 6) / 6 in 16 bits: the second factor in units of 3 / 2^15. */
static bool hard_swish(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const float fine = 1.0f / 128 * (float)tfl_scale(x, 0);
    const struct fixed_point out = fixed_point_of((double)(fine / (float)tfl_scale(y, 0)));
    const struct fixed_point gate = fixed_point_of((double)(fine / (3.0f / 32768)));

    if (out.shift > 0 || gate.shift > 15)
        return tfl_unsupported(node, "scales of %g and %g, with which the kernel overflows",
                               tfl_scale(x, 0), tfl_scale(y, 0));
    for (int i = 0; i < QNN_VALUES; i++) {
        const int32_t steps = (int32_t)(i - 128 - tfl_zero(x)) * 128;
        const int32_t number = high_product_to_nearest(steps, narrowed(out));
        int32_t open = gate.shift > 0 ? shifted_up(steps, gate.shift - 1) : steps;

        open = high_product_to_nearest(open, narrowed(gate));
        open = gate.shift > 0 ? shifted_up(open, 1) : q31_shift_down(open, -gate.shift);
        open = (open + (1 << 15)) >> 1;
        of[i] = tfl_zero(y) + q31_shift_down(high_product(open, number), -out.shift);
    }
    return true;
}

/* --- tables of what kernels compute in floats ------------------------------------------------- */

static double exponential(double x)
{
    return exp(x);
}

static double elu(double x)
{
    return x < 0 ? (double)((float)exp(x) - 1.0f) : x;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * 0.70710678118654752));
}

static bool of_floats(struct tfl_node *node, double (*function)(double x), int64_t of[QNN_VALUES])
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const float inverse = 1 / (float)tfl_scale(y, 0);

    for (int i = 0; i < QNN_VALUES; i++) {
        const float number = (float)tfl_scale(x, 0) * (float)(i - 128 - tfl_zero(x));
        const float steps = roundf((float)function((double)number) * inverse) + (float)tfl_zero(y);

        of[i] = (int64_t)fminf(fmaxf(steps, -0x1p20f), 0x1p20f);
    }
    return true;
}

static bool exponentials(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    return of_floats(node, exponential, of);
}

static bool elus(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    return of_floats(node, elu, of);
}

static bool gelus(struct tfl_node *node, int64_t of[QNN_VALUES])
{
    if (tfl_flag(node, 0))
        return tfl_unsupported(node, "the approximation by tanh, of codes");
    return of_floats(node, gelu, of);
}

/* --- converters ------------------------------------------------------------------------------- */

static struct value *real(struct tfl_node *node)
{
    const union attrs elu_attrs = { .alpha_beta = { .alpha = 1 } };
    const union attrs gelu_attrs = { .gelu = { .approximate =
                                                   tfl_flag(node, 0) ? "tanh" : "none" } };
    const enum op op = (enum op)node->arg;
    struct value *x = tfl_value(node, 0);

    if (op == OP_MULTIPLY)
        return tfl_two(node, op, "square", x, x);
    return tfl_build1(node, op,
                      op == OP_ELU    ? &elu_attrs
                      : op == OP_GELU ? &gelu_attrs
                                      : NULL,
                      "y", x);
}

bool convert_tfl_unary(struct tfl_node *node)
{
    static bool (*const tables[OP_COUNT])(struct tfl_node *, int64_t *) = {
        [OP_ABS] = absolutes,         [OP_ELU] = elus,
        [OP_EXP] = exponentials,      [OP_GELU] = gelus,
        [OP_HARD_SWISH] = hard_swish, [OP_RSQRT] = inverse_roots,
    };
    const bool whole = node->arg == OP_ABS || node->arg == OP_NEGATIVE ||
                       node->arg == OP_MULTIPLY || node->arg == OP_SIGN;
    int64_t of[QNN_VALUES];

    if (!tfl_check(node, 1, 1, 1))
        return false;
    if (node->inputs[0]->type.dtype == DTYPE_F32 || (whole && tfl_is_plain(node->inputs[0])))
        return tfl_output(node, 0, real(node));
    if (!tables[node->arg])
        return tfl_check_type(node, node->inputs[0], DTYPE_F32);
    if (!tfl_check_type(node, node->inputs[0], DTYPE_I8) || !tfl_check_quantized(node))
        return false;
    return tables[node->arg](node, of) && tfl_output(node, 0, tfl_table(node, of));
}

/* RELU_N1_TO_1 and RELU_0_TO_1. */
bool convert_tfl_bounds(struct tfl_node *node)
{
    const union attrs attrs = { .clip = { .a_min = node->arg, .a_max = 1 } };

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_type(node, node->inputs[0], DTYPE_F32))
        return false;
    return tfl_output(node, 0, tfl_build1(node, OP_CLIP, &attrs, "y", tfl_value(node, 0)));
}

/* Between floats, integers and bool; quantised values are the integers that they are, whatever their scale. */
bool convert_tfl_cast(struct tfl_node *node)
{
    if (!tfl_check(node, 1, 1, 1))
        return false;
    return tfl_output(node, 0,
                      tfl_cast(node, node->outputs[0]->type.dtype, "cast",
                               tfl_build1(node, OP_COPY, NULL, "copy", tfl_value(node, 0))));
}

/* A sparse constant is filled up where it is read. */
bool convert_tfl_densify(struct tfl_node *node)
{
    return tfl_check(node, 1, 1, 1) && tfl_check_kept(node, node->inputs[0], node->outputs[0]) &&
           tfl_output(node, 0, tfl_value(node, 0));
}
