/* convert_divide.c - DIV. Quantised values: the divisor's reciprocal in 31 bits (q31_inverse), times the dividend
 * shifted up as far as 31 bits allow, times the factor of the scales, each product rounded double; then shifted down,
 * ties away from 0.
 * Where that is by more than 31 bits TensorFlow Lite Micro gives one step, of the quotient's sign, as the shifts of Arm
 * do. A quotient by 0, which it leaves undefined, is 0. By one number it is a table of 256 quantised values. */
#include <math.h>
#include <stdlib.h>

#include "frontend/tflite/convert_compose.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"

enum {
    FARTHEST = 255,
    MOST_BITS = 40
}; /* from a zero point; beyond, all of 31 bits is shifted out */

/* 1 / d in units of 2^-31, and 2^-bits. */
static int32_t reciprocal(int d, int *bits)
{
    int zeros = 0;

    *bits = 0;
    if (d == 0)
        return 0;
    while (!((uint32_t)d << zeros >> 31))
        zeros++;
    zeros++; /* the highest 1 goes, too */
    *bits = 31 - (zeros - 1);
    return q31_inverse((int32_t)(((uint64_t)(uint32_t)d << zeros & UINT32_MAX) >> 1));
}

/* By how many bits v, of 32, can be shifted up. */
static int headroom(int v)
{
    int bits = 0;

    while (bits < 31 && (v >= 0 ? v >> (30 - bits) == 0 : ~v >> (30 - bits) == 0))
        bits++;
    return bits;
}

static int32_t quotient(int a, int d, struct fixed_point factor)
{
    int bits;
    const int32_t inverse = reciprocal(d < 0 ? -d : d, &bits);
    const int up = headroom(d < 0 ? -a : a), down = bits + up - factor.shift;
    const int32_t raised = (int32_t)((d < 0 ? -(int64_t)a : a) * ((int64_t)1 << up));
    const int32_t y = q31_multiply(q31_multiply(raised, inverse), factor.multiplier);

    return down <= 31 ? q31_shift_down(y, down) : y < 0 ? -1 : 1;
}

static bool bounds(struct tfl_node *node, int64_t *least, int64_t *most)
{
    const struct tfl_tensor *y = node->outputs[0];
    const int64_t word = tfl_word(node, 0);

    *least = INT8_MIN;
    *most = INT8_MAX;
    if (word < 0 || word > 3)
        return tfl_unsupported(node, "fused activation %lld (TANH, SIGN_BIT or newer)",
                               (long long)word);
    if (word > 0)
        *least = tfl_code(y, word == 2 ? -1 : 0);
    if (word > 1)
        *most = tfl_code(y, word == 2 ? 1 : 6);
    *least = *least < INT8_MIN ? INT8_MIN : *least;
    *most = *most > INT8_MAX ? INT8_MAX : *most;
    return true;
}

static bool by_one_number(struct tfl_node *node, int d, struct fixed_point factor)
{
    int64_t quantized[QNN_VALUES], least, most;

    if (!bounds(node, &least, &most))
        return false;
    for (int i = 0; i < QNN_VALUES; i++) {
        const int a = i - 128 - (int)tfl_zero(node->inputs[0]);
        const int64_t code = quotient(a, d, factor) + tfl_zero(node->outputs[0]);

        quantized[i] = code < least ? least : code > most ? most : code;
    }
    return tfl_output(node, 0, tfl_table(node, quantized));
}

static struct value *wide(struct tfl_node *node, int64_t number, const char *suffix)
{
    return tfl_number(node, DTYPE_I64, (double)number, suffix);
}

/* Of products in 64 bits their upper 32: / 2^31 to nearest, ties up. */
static struct value *high(struct tfl_node *node, struct value *product)
{
    struct value *nudge = tfl_where(
        node, "nudge", tfl_two(node, OP_GREATER_EQUAL, "positive", product, wide(node, 0, "zero")),
        wide(node, 1 << 30, "half"), wide(node, 1 - (1 << 30), "less_than_half"));

    return tfl_two(node, OP_DIVIDE, "high", tfl_two(node, OP_ADD, "nudged", product, nudge),
                   wide(node, (int64_t)1 << 31, "unit"));
}

static struct value *of_table(struct tfl_node *node, int n, const int64_t *at, struct value *index,
                              const char *suffix)
{
    const struct type type = type_make(DTYPE_I64, 1, (const int64_t[]){ n });
    const union attrs attrs = { .axis = { .axis = 0 } };

    return tfl_build(node, OP_TAKE, &attrs, suffix, 2,
                     (struct value *const[]){ tfl_integers(node, &type, at, suffix), index });
}

/* Any two operands, in i64. */
static struct value *of_operands(struct tfl_node *node, struct fixed_point factor)
{
    int64_t inverses[FARTHEST + 1], bits[FARTHEST + 1];
    int64_t raised[2 * FARTHEST + 1], up[2 * FARTHEST + 1];
    struct value *a = tfl_steps(node, 0, 0, "a"), *d = tfl_steps(node, 1, 0, "d");
    struct value *magnitude, *y, *down, *half, *zero = wide(node, 0, "none");

    for (int i = 0; i <= FARTHEST; i++) {
        int n;

        inverses[i] = reciprocal(i, &n);
        bits[i] = n;
    }
    for (int i = -FARTHEST; i <= FARTHEST; i++) {
        const int n = headroom(i);

        raised[i + FARTHEST] = i * ((int64_t)1 << n);
        up[i + FARTHEST] = n - factor.shift;
    }
    if (!a || !d)
        return NULL;
    a = tfl_where(node, "dividend",
                  tfl_two(node, OP_LESS, "negative", d, tfl_number(node, DTYPE_I32, 0, "zero")),
                  tfl_build1(node, OP_NEGATIVE, NULL, "minus_a", a), a);
    a = tfl_two(node, OP_ADD, "place", a, tfl_number(node, DTYPE_I32, FARTHEST, "farthest"));
    magnitude = tfl_build1(node, OP_ABS, NULL, "magnitude", d);
    down = tfl_two(node, OP_ADD, "down", of_table(node, FARTHEST + 1, bits, magnitude, "bits"),
                   of_table(node, 2 * FARTHEST + 1, up, a, "headroom"));
    down = tfl_two(node, OP_MINIMUM, "down_at_most", down, wide(node, MOST_BITS, "most_bits"));
    y = tfl_two(node, OP_MULTIPLY, "products",
                of_table(node, 2 * FARTHEST + 1, raised, a, "raised"),
                of_table(node, FARTHEST + 1, inverses, magnitude, "inverses"));
    y = tfl_two(node, OP_MULTIPLY, "scaled", high(node, y),
                wide(node, factor.multiplier, "factor"));
    y = high(node, y);
    half = tfl_two(node, OP_RIGHT_SHIFT, "half_a_step",
                   tfl_two(node, OP_LEFT_SHIFT, "step", wide(node, 1, "one"), down),
                   wide(node, 1, "one_bit"));
    half = tfl_two(node, OP_ADD, "lifted", tfl_build1(node, OP_ABS, NULL, "size", y), half);
    half = tfl_where(node, "at_least_one",
                     tfl_two(node, OP_GREATER, "far", down, wide(node, 31, "all_bits")),
                     wide(node, 1, "one_step"), tfl_two(node, OP_RIGHT_SHIFT, "steps", half, down));
    return tfl_where(node, "signed", tfl_two(node, OP_LESS, "is_negative", y, zero),
                     tfl_build1(node, OP_NEGATIVE, NULL, "minus", half), half);
}

bool tfl_divide_quantized(struct tfl_node *node)
{
    const struct tfl_tensor *b = node->inputs[1];
    union attrs attrs;
    struct fixed_point factor;
    struct tensor known;
    struct value *y;
    int64_t least, most;

    if (!tfl_check_quantized(node) || !tfl_check_type(node, node->inputs[0], DTYPE_I8))
        return false;
    factor = fixed_point_of(tfl_scale(node->inputs[0], 0) /
                            (tfl_scale(b, 0) * tfl_scale(node->outputs[0], 0)));
    if (factor.shift > 22)
        return tfl_unsupported(node, "scales whose quotient is 2^%d, expected at most 2^22",
                               factor.shift);
    if (b->data.data && type_elements(&b->type) == 1)
        return tfl_constant(node, 1, &known) &&
               by_one_number(node, (int)(tensor_int_at(&known, 0) - tfl_zero(b)), factor);
    if (!bounds(node, &least, &most))
        return false;
    y = of_operands(node, factor);
    y = tfl_two(node, OP_ADD, "code", y, wide(node, tfl_zero(node->outputs[0]), "y_zero"));
    attrs.clip = (struct clip_attrs){ (double)least, (double)most };
    y = y ? tfl_build1(node, OP_CLIP, &attrs, "within", y) : NULL;
    return tfl_output(node, 0, tfl_cast(node, DTYPE_I8, "codes", y));
}
