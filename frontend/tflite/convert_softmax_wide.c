/* convert_softmax_wide.c - SOFTMAX of 16-bit quantised values: powers and the reciprocal of their sum are linear
 * between the entries of two tables. */
#include <math.h>

#include "frontend/tflite/convert_compose.h"

enum { STEPS = 512, STEP_BITS = 7 };

static float power(float x)
{
    return (float)exp((double)x);
}

static float share(float x)
{
    return 1.0f / (1.0f + x);
}

/* Entry i of a curve over least .. most, in units of 2^-15: lowered by half of how far a chord to the
 * next entry is above the curve in its middle. All of it in f32, as the kernel does. */
static int64_t entry_of(float (*curve)(float), float least, float most, int i)
{
    const float units = 65536.0f / (2.0f / 65535 * 32767 - 2.0f / 65535 * -32768);
    const float step = (most - least) / STEPS;
    const float at = curve(least + (float)i * step);
    const float middle = curve(least + (float)i * step + step / 2);
    const float next = curve(least + (float)(i + 1) * step);
    const float here = roundf(at * units);
    const float chord = roundf((next * units + here) / 2);
    const float entry = i < STEPS ? here - roundf((chord - roundf(middle * units)) / 2)
                                  : roundf(curve(most) * units);

    return (int64_t)fminf(fmaxf(entry, INT16_MIN), INT16_MAX);
}

static struct value *number(struct tfl_node *node, double x, const char *suffix)
{
    return tfl_number(node, DTYPE_I32, x, suffix);
}

/* x, saturated to 16 bits, on such a curve. */
static struct value *looked_up(struct tfl_node *node, struct value *x, float (*curve)(float),
                               float least, float most, const char *suffix)
{
    const union attrs bounds = { .clip = { .a_min = INT16_MIN, .a_max = INT16_MAX } };
    const union attrs axis = { .axis = { .axis = 0 } };
    const struct type type = type_make(DTYPE_I32, 1, (const int64_t[]){ STEPS });
    int64_t first[STEPS], rise[STEPS];
    struct value *at, *part;

    for (int i = 0; i < STEPS; i++) {
        first[i] = entry_of(curve, least, most, i);
        rise[i] = entry_of(curve, least, most, i + 1) - first[i];
    }
    x = x ? tfl_build1(node, OP_CLIP, &bounds, "bounded", x) : NULL;
    at = tfl_two(node, OP_ADD, "entry",
                 tfl_two(node, OP_RIGHT_SHIFT, "which", x, number(node, STEP_BITS, "bits")),
                 number(node, STEPS / 2, "middle"));
    part = tfl_two(node, OP_BITWISE_AND, "part", x, number(node, (1 << STEP_BITS) - 1, "mask"));
    part = tfl_two(
        node, OP_MULTIPLY, "rise", part,
        tfl_build(node, OP_TAKE, &axis, "step", 2,
                  (struct value *const[]){ tfl_integers(node, &type, rise, "rise_of_curve"), at }));
    part = tfl_two(node, OP_ADD, "rise_and_half", part, number(node, 1 << (STEP_BITS - 1), "half"));
    part = tfl_two(node, OP_RIGHT_SHIFT, "risen", part, number(node, STEP_BITS, "bits"));
    return tfl_two(
        node, OP_ADD, suffix,
        tfl_build(node, OP_TAKE, &axis, "first", 2,
                  (struct value *const[]){ tfl_integers(node, &type, first, "curve_at"), at }),
        part);
}

static struct value *reduced(struct tfl_node *node, enum op op, struct value *x, const char *suffix)
{
    const int64_t last = x ? x->type.rank - 1 : 0;
    const union attrs attrs = { .reduce = { .axis = { .n = 1, .at = { last } },
                                            .keepdims = true } };

    return x ? tfl_build1(node, op, &attrs, suffix, x) : NULL;
}

/* Zeros in front of the highest bit of sums from 2^14 on, in 32 bits. */
static struct value *leading_zeros(struct tfl_node *node, struct value *sum)
{
    enum { FROM = 15, TO = 30 };
    const struct type type = type_make(DTYPE_I32, 1, (const int64_t[]){ TO - FROM + 1 });
    int64_t powers[TO - FROM + 1];

    for (int i = FROM; i <= TO; i++)
        powers[i - FROM] = (int64_t)1 << i;
    return tfl_two(node, OP_ADD, "headroom",
                   reduced(node, OP_SUM,
                           tfl_cast(node, DTYPE_I32, "above",
                                    tfl_two(node, OP_LESS, "below_power", sum,
                                            tfl_integers(node, &type, powers, "powers"))),
                           "powers_above"),
                   number(node, 1, "sign"));
}

/* The sum, from 2^14 on, as 1 .. 2 in units of 2^-16, and then 1 / it in units of 2^-15. */
static struct value *reciprocal(struct tfl_node *node, struct value *sum, struct value *zeros)
{
    struct value *x =
        tfl_two(node, OP_LEFT_SHIFT, "normal", tfl_cast(node, DTYPE_I64, "wide_sum", sum),
                tfl_cast(node, DTYPE_I64, "wide_shift",
                         tfl_two(node, OP_SUBTRACT, "shift", zeros, number(node, 1, "sign"))));

    x = tfl_two(node, OP_ADD, "normal_and_half", x, tfl_number(node, DTYPE_I64, 1 << 13, "half"));
    x = tfl_two(node, OP_RIGHT_SHIFT, "fraction", x, tfl_number(node, DTYPE_I64, 14, "bits"));
    x = tfl_cast(node, DTYPE_I32, "one_to_two", x);
    x = tfl_two(node, OP_SUBTRACT, "centred", x, number(node, (1 << 15) + (1 << 16), "centre"));
    return looked_up(node, x, share, 1.0f / 65535 * 0, 1.0f / 65535 * 65535, "reciprocal");
}

static struct value *shares_of(struct tfl_node *node, double beta)
{
    const union attrs bounds = { .clip = { .a_min = 0, .a_max = INT16_MAX } };
    const double factor = tfl_scale(node->inputs[0], 0) * beta / (10.0 / 65535.0);
    struct value *x = tfl_steps(node, 0, 0, "steps"), *powers, *sum, *zeros, *down, *y;

    x = tfl_two(node, OP_SUBTRACT, "below_most", x, reduced(node, OP_MAX, x, "most"));
    x = x ? tfl_scaled(node, x, factor, "tenths") : NULL;
    x = tfl_two(node, OP_ADD, "raised", x, number(node, INT16_MAX, "zero_at"));
    powers = looked_up(node, x, power, 10.0f / 65535 * -65535, 10.0f / 65535 * 0, "powers");
    sum = reduced(node, OP_SUM, powers, "sum");
    zeros = leading_zeros(node, sum);
    down = tfl_two(node, OP_SUBTRACT, "down", number(node, 31, "bits"), zeros);
    y = tfl_two(node, OP_MULTIPLY, "scaled", powers, reciprocal(node, sum, zeros));
    y = tfl_two(node, OP_ADD, "scaled_and_half", y,
                tfl_two(node, OP_LEFT_SHIFT, "half", number(node, 1, "one"),
                        tfl_two(node, OP_SUBTRACT, "half_bits", down, number(node, 1, "one"))));
    y = tfl_two(node, OP_RIGHT_SHIFT, "shares", y, down);
    y = y ? tfl_build1(node, OP_CLIP, &bounds, "positive", y) : NULL;
    return tfl_cast(node, DTYPE_I16, "codes", y);
}

bool convert_tfl_wide_softmax(struct tfl_node *node, double beta)
{
    const struct tfl_tensor *x = node->inputs[0], *y = node->outputs[0];
    const int64_t n = x->type.dim[x->type.rank - 1];

    if (!tfl_check_quantized(node))
        return false;
    if (!(fabs(tfl_scale(y, 0) * 32768 - 1) <= 0.001))
        return tfl_unsupported(node, "a result of scale %g, expected 2^-15", tfl_scale(y, 0));
    if (n < 1 || n > 65535 || !(beta > 0) || !(beta * tfl_scale(x, 0) < 1e3))
        return tfl_unsupported(node, "%lld elements, beta %g", (long long)n, beta);
    return tfl_output(node, 0, shares_of(node, beta));
}
