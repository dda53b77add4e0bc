/* convert_elementwise.c - ADD, SUB, MUL, QUANTIZE, DEQUANTIZE, SOFTMAX. */
#include <math.h>

#include "frontend/tflite/convert_compose.h"
#include "relay_ir/ops/q31.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"

enum { ACTIVATION };

/* --- sums and products ------------------------------------------------------------------------ */

/* Both inputs with the channels first, where both lie so already. */
static bool lies_first(const struct tfl_node *node)
{
    const struct tfl_tensor *a = node->inputs[0], *b = node->inputs[1];

    return a->first && b->first && type_same_shape(&a->type, &b->type);
}

static struct value *operand(struct tfl_node *node, int input, bool first)
{
    return first ? tfl_first(node, input) : tfl_value(node, input);
}

static enum op real_op(enum op op)
{
    return op == OP_QNN_ADD ? OP_ADD : op == OP_QNN_MUL ? OP_MULTIPLY : OP_SUBTRACT;
}

bool convert_tfl_sum(struct tfl_node *node)
{
    const enum op op = (enum op)node->arg;
    const struct tfl_tensor *a, *b, *y;
    struct value *sum;
    bool first;

    if (!tfl_check(node, 2, 2, 1))
        return false;
    a = node->inputs[0];
    b = node->inputs[1];
    y = node->outputs[0];
    first = lies_first(node);
    if (a->type.dtype == DTYPE_F32 || tfl_is_plain(a)) {
        sum =
            tfl_build(node, real_op(op), NULL, "sum", 2,
                      (struct value *const[]){ operand(node, 0, first), operand(node, 1, first) });
    } else {
        if (!tfl_check_quantized(node))
            return false;
        sum = tfl_build(node, op, NULL, "codes", 8,
                        (struct value *const[]){
                            operand(node, 0, first), operand(node, 1, first),
                            tfl_scale_of(node, a, "a_scale"), tfl_zero_of(node, a, "a_zero"),
                            tfl_scale_of(node, b, "b_scale"), tfl_zero_of(node, b, "b_zero"),
                            tfl_scale_of(node, y, "scale"), tfl_zero_of(node, y, "zero") });
    }
    sum = tfl_activation(node, ACTIVATION, sum);
    return first ? tfl_output_first(node, 0, sum) : tfl_output(node, 0, sum);
}

/* Quantised values are compared, in one scale. */
bool convert_tfl_extreme(struct tfl_node *node)
{
    bool first;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_check_kept(node, node->inputs[1], node->outputs[0]))
        return false;
    first = lies_first(node);
    if (first)
        return tfl_output_first(
            node, 0,
            tfl_build(node, (enum op)node->arg, NULL, "y", 2,
                      (struct value *const[]){ tfl_first(node, 0), tfl_first(node, 1) }));
    return tfl_output(node, 0,
                      tfl_build(node, (enum op)node->arg, NULL, "y", 2,
                                (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1) }));
}

/* --- scales ----------------------------------------------------------------------------------- */

/* The quotient of floats to a whole number, ties away from 0 (qnn.quantize: to even): the
 * whole part of the magnitude, and one more where what is left, which is exact, is a half. */
static struct value *quantized(struct tfl_node *node)
{
    const struct tfl_tensor *y = node->outputs[0];
    const union attrs quantized = { .cast = { .dtype = y->type.dtype, .saturate = true } };
    const union attrs real = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    const union attrs bounds = { .clip = { .a_min = (double)dtype_least(y->type.dtype),
                                           .a_max = (double)dtype_greatest(y->type.dtype) } };
    struct value *quotient =
        tfl_two(node, OP_DIVIDE, "quotient", tfl_value(node, 0), tfl_scale_of(node, y, "scale"));
    struct value *magnitude =
        quotient ? tfl_build1(node, OP_ABS, NULL, "magnitude", quotient) : NULL;
    struct value *whole = magnitude ? tfl_build1(node, OP_FLOOR, NULL, "whole", magnitude) : NULL;
    struct value *up =
        tfl_two(node, OP_GREATER_EQUAL, "up", tfl_two(node, OP_SUBTRACT, "rest", magnitude, whole),
                tfl_number(node, DTYPE_F32, 0.5, "half"));
    struct value *rounded =
        tfl_two(node, OP_ADD, "rounded", whole, tfl_build1(node, OP_CAST, &real, "more", up));
    struct value *steps = tfl_two(node, OP_MULTIPLY, "steps", rounded,
                                  tfl_build1(node, OP_SIGN, NULL, "sign", quotient));

    steps = tfl_two(node, OP_ADD, "moved", steps,
                    tfl_number(node, DTYPE_F32, (double)tfl_zero(y), "zero"));
    return tfl_build1(node, OP_CAST, &quantized, "codes",
                      tfl_build1(node, OP_CLIP, &bounds, "bounded", steps));
}

/* Quantised values of 8 or 16 bits, with one scale. */
static bool check_quantized(struct tfl_node *node, const struct tfl_tensor *tensor)
{
    return (tensor->type.dtype == DTYPE_I16 || tfl_check_type(node, tensor, DTYPE_I8)) &&
           tfl_check_scale(node, tensor);
}

/* From one scale to another. */
bool convert_tfl_quantize(struct tfl_node *node)
{
    const union attrs to_i32 = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    const union attrs attrs = { .requantize = { .rounding = "double" } };
    const struct tfl_tensor *x, *y;

    if (!tfl_check(node, 1, 1, 1))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    if (x->type.dtype == DTYPE_F32 && y->type.dtype == DTYPE_F32) /* floats.c */
        return tfl_output(node, 0, tfl_build1(node, OP_COPY, NULL, "numbers", tfl_value(node, 0)));
    if (y->type.dtype == DTYPE_I32 ? !tfl_check_scale(node, y) : !check_quantized(node, y))
        return false;
    if (x->type.dtype == DTYPE_F32)
        return tfl_output(node, 0, quantized(node));
    if (x->type.dtype == DTYPE_I32 ? !tfl_check_scale(node, x) : !check_quantized(node, x))
        return false;
    return tfl_output(
        node, 0,
        tfl_build(node, OP_QNN_REQUANTIZE, &attrs, "codes", 5,
                  (struct value *const[]){
                      tfl_build1(node, OP_CAST, &to_i32, "wide", tfl_value(node, 0)),
                      tfl_scale_of(node, x, "in_scale"),
                      tfl_number(node, DTYPE_I32, (double)tfl_zero(x), "in_zero"),
                      tfl_scale_of(node, y, "scale"), tfl_zero_of(node, y, "zero") }));
}

bool convert_tfl_dequantize(struct tfl_node *node)
{
    const union attrs attrs = { .axis = { .axis = 0 } };
    const struct tfl_tensor *x;

    if (!tfl_check(node, 1, 1, 1))
        return false;
    x = node->inputs[0];
    if (x->type.dtype == DTYPE_F32 && node->outputs[0]->type.dtype == DTYPE_F32) /* floats.c */
        return tfl_output(node, 0, tfl_build1(node, OP_COPY, NULL, "numbers", tfl_value(node, 0)));
    if (x->type.dtype == DTYPE_F16)
        return tfl_output(node, 0, tfl_cast(node, DTYPE_F32, "numbers", tfl_value(node, 0)));
    if (!check_quantized(node, x))
        return false;
    return tfl_output(
        node, 0,
        tfl_build(node, OP_QNN_DEQUANTIZE, &attrs, "numbers", 3,
                  (struct value *const[]){ tfl_value(node, 0), tfl_scale_of(node, x, "scale"),
                                           tfl_zero_of(node, x, "zero") }));
}

/* --- softmax ---------------------------------------------------------------------------------- */

/* The output must be in units of 2^-8 from -128 on, or of 2^-16 from -32768 on: the kernels assume it. */
static bool check_shares(struct tfl_node *node)
{
    const struct tfl_tensor *y = node->outputs[0];
    const bool is_wide = y->type.dtype == DTYPE_I16;

    if ((!is_wide && !tfl_check_type(node, y, DTYPE_I8)) || !tfl_check_scale(node, y))
        return false;
    if (is_wide ? fabs(tfl_scale(y, 0) * 0x1p16 - 1) < 0.001 && tfl_zero(y) == INT16_MIN
                : tfl_scale(y, 0) == 0x1p-8 && tfl_zero(y) == INT8_MIN)
        return true;
    return tfl_unsupported(node, "a result of scale %g and zero point %lld, expected %s",
                           tfl_scale(y, 0), (long long)tfl_zero(y),
                           is_wide ? "1/65536 and -32768" : "1/256 and -128");
}

/* -d * beta * scale in units of 2^-26; 1 where the kernel leaves an element out. */
static int32_t exponent_of(const struct tfl_node *node, double beta, int64_t d)
{
    const double scale = tfl_scale(node->inputs[0], 0);
    const struct fixed_point factor = fixed_point_of(fmin(beta * scale * 0x1p26, 0x1p31 - 1));

    return d <= tfl_radius(5, factor.shift)
               ? q31_multiply((int32_t)(-d * ((int64_t)1 << factor.shift)), factor.multiplier)
               : 1;
}

/* exp(-d * beta * scale) * 2^31; 0 where the kernel leaves an element out. */
static struct value *powers_of(struct tfl_node *node, double beta)
{
    const struct type type = type_make(DTYPE_I32, 1, (const int64_t[]){ QNN_VALUES });
    int32_t *powers = tfl_payload(node, &type);

    for (int64_t d = 0; powers && d < QNN_VALUES; d++) {
        const int32_t exponent = exponent_of(node, beta, d);

        powers[d] = exponent <= 0 ? q31_exp(exponent, 5) : 0;
    }
    return tfl_made(node, &type, powers, "powers");
}

bool convert_tfl_softmax(struct tfl_node *node)
{
    const double beta = tfl_real(node, 0, 0);
    const struct tfl_tensor *x;
    union attrs attrs;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK))
        return false;
    x = node->inputs[0];
    attrs.axis.axis = x->type.rank - 1;
    if (x->type.dtype == DTYPE_F32) {
        struct value *logits = tfl_value(node, 0);

        if (beta != 1)
            logits = tfl_two(node, OP_MULTIPLY, "steep", logits,
                             tfl_number(node, DTYPE_F32, beta, "beta"));
        return tfl_output(node, 0, tfl_build1(node, OP_SOFTMAX, &attrs, "shares", logits));
    }
    if (x->type.dtype == DTYPE_I16)
        return convert_tfl_wide_softmax(node, beta);
    if (!tfl_check_type(node, x, DTYPE_I8) || !tfl_check_scale(node, x) || !check_shares(node))
        return false;
    if (!(beta * tfl_scale(x, 0) * 0x1p26 > 1))
        return tfl_unsupported(node, "beta %g and the scale %g leave no steps", beta,
                               tfl_scale(x, 0));
    return tfl_output(
        node, 0,
        tfl_build(node, OP_QNN_SOFTMAX_POWERS, &attrs, "shares", 4,
                  (struct value *const[]){ tfl_value(node, 0), powers_of(node, beta),
                                           tfl_scale_of(node, node->outputs[0], "scale"),
                                           tfl_zero_of(node, node->outputs[0], "zero") }));
}

/* Exponents; all below -16 give the least code. */
static struct value *exponents_of(struct tfl_node *node)
{
    const int32_t least = -20 * (1 << 26);
    const struct type type = type_make(DTYPE_I32, 1, (const int64_t[]){ QNN_VALUES });
    int32_t *exponents = tfl_payload(node, &type);

    for (int64_t d = 0; exponents && d < QNN_VALUES; d++) {
        const int32_t exponent = exponent_of(node, 1, d);

        exponents[d] = exponent > 0 || exponent < least ? least : exponent;
    }
    return tfl_made(node, &type, exponents, "exponents");
}

bool convert_tfl_log_softmax(struct tfl_node *node)
{
    const struct tfl_tensor *x, *y;
    union attrs attrs;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 1, MAX_RANK))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    attrs.axis.axis = x->type.rank - 1;
    if (x->type.dtype == DTYPE_F32)
        return tfl_output(node, 0,
                          tfl_build1(node, OP_LOG_SOFTMAX, &attrs, "y", tfl_value(node, 0)));
    if (!tfl_check_type(node, x, DTYPE_I8) || !tfl_check_type(node, y, DTYPE_I8) ||
        !tfl_check_scale(node, x) || !tfl_check_scale(node, y))
        return false;
    if (tfl_scale(y, 0) != 1.0 / 16 || tfl_zero(y) != 127)
        return tfl_unsupported(node,
                               "a result of scale %g and zero point %lld, expected 1/16 and 127",
                               tfl_scale(y, 0), (long long)tfl_zero(y));
    if (!(tfl_scale(x, 0) * 0x1p26 > 1))
        return tfl_unsupported(node, "the scale %g leaves no steps", tfl_scale(x, 0));
    return tfl_output(
        node, 0,
        tfl_build(node, OP_QNN_LOG_SOFTMAX_POWERS, &attrs, "logarithms", 5,
                  (struct value *const[]){ tfl_value(node, 0), powers_of(node, 1),
                                           exponents_of(node), tfl_scale_of(node, y, "scale"),
                                           tfl_zero_of(node, y, "zero") }));
}
