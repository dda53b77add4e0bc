/* scalar_qnn.c - see scalar_qnn.h; the arithmetic is that of relay_ir/ops/qnn.c and fixed_point.c.
 *
 * method   scales become multipliers and shifts at compile time. The scales of quantize and
 *          dequantize stay floats and may be computed at run time; so does the factor of a
 *          requantize with ONNX rounding */
#include "codegen_c/expr/scalar_qnn.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/core/number.h"
#include "codegen_c/core/state.h"
#include "codegen_c/expr/scalar.h"
#include "codegen_c/expr/scalar_exact.h"
#include "relay_ir/ops/qnn.h"

/* Whether the value is a constant with equal elements. */
static bool is_known(const struct value *value, int64_t *number)
{
    double real;

    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &real))
        return false;
    *number = (int64_t)real;
    return true;
}

static double real_of(const struct value *constant, int64_t i)
{
    const struct tensor tensor = value_tensor(constant);

    return tensor_at(&tensor, i);
}

static bool is_signed(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_INT || dtype == DTYPE_I4;
}

static int64_t least_of(enum dtype dtype)
{
    return is_signed(dtype) ? -((int64_t)1 << (dtype_packed_bits(dtype) - 1)) : 0;
}

static int64_t most_of(enum dtype dtype)
{
    const int bits = dtype_packed_bits(dtype);

    return ((int64_t)1 << (is_signed(dtype) ? bits - 1 : bits)) - 1;
}

/* "x + 3", "x - 3", "x". */
static const char *plus(struct arena *arena, const char *x, int64_t number)
{
    if (number == 0)
        return x;
    return arena_printf(arena, "%s %c %" PRId64, x, number < 0 ? '-' : '+',
                        number < 0 ? -number : number);
}

/* (x - zero) */
static const char *centred(struct arena *arena, const char *x, const struct node *node,
                           const char *role, int64_t zero)
{
    return arena_printf(arena, "(%s)", minus_number(arena, x, node, role, zero));
}

/* x / scale, rounded once. The reciprocal of a power of two is exact, so that x times it is the
 * same. */
static const char *quotient_text(struct arena *arena, const struct node *node)
{
    const struct value *scale = node->inputs[1];
    double number, reciprocal;
    int exponent;

    if (scale->kind != VALUE_CONSTANT || !value_uniform(scale, &number) ||
        frexp(number, &exponent) != 0.5)
        return "$a / $b";
    reciprocal = 1 / number;
    if (reciprocal < 0x1p-126 || reciprocal > 0x1p127)
        return "$a / $b";
    return number == 1 ? "$a"
                       : arena_printf(arena, "$a * %s",
                                      number_f32(arena, node, "y_steps", (float)reciprocal));
}

static const char *quantize_text(struct arena *arena, const struct node *node, const char **needs)
{
    const enum dtype to = node->outputs[0]->type.dtype;
    const char *quotient = quotient_text(arena, node);
    int64_t zero;

    if (dtype_kind(to) == KIND_MINIFLOAT)
        return scalar_encoded(arena, &node->outputs[0]->type, quotient,
                              node->attrs.quantize.saturate, needs);
    *needs = "math.h saturate_f32";
    quotient = arena_printf(arena, "rintf(%s)", quotient);
    if (dtype_bytes(to) == 1 || !is_known(node->inputs[2], &zero) || zero != 0)
        quotient = arena_printf(arena, "%s + (float)$c", quotient);
    return arena_printf(arena, "($t)saturate_f32(%s, %" PRId64 ".0f, %" PRId64 ".0f)", quotient,
                        least_of(to), most_of(to));
}

static bool is_number_one(const struct value *value)
{
    double number;

    return value_uniform(value, &number) && number == 1;
}

static const char *dequantize_text(struct arena *arena, const struct node *node, const char **needs)
{
    const enum dtype from = node->inputs[0]->type.dtype;
    const bool one = is_number_one(node->inputs[1]);
    const char *x;
    int64_t zero;

    if (dtype_kind(from) == KIND_MINIFLOAT) {
        x = scalar_decoded(arena, &node->inputs[0]->type, "$a", needs);
        return x && !one ? arena_printf(arena, "%s * $b", x) : x;
    }
    if (from != DTYPE_I32 || !is_known(node->inputs[2], &zero))
        x = arena_printf(arena, "(%s - $c)", from == DTYPE_I32 ? "(int64_t)$a" : "$a");
    else
        x = zero == 0 ? "$a" : centred(arena, "(int64_t)$a", node, "x_zero", zero);
    return arena_printf(arena, one ? "(float)%s" : "(float)%s * $b", x);
}

/* saturate(x + zero), in the result's type. */
static const char *saturated(struct arena *arena, const struct node *node, const char *x,
                             int64_t zero)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;
    if (dtype == DTYPE_I32)
        return zero == 0 ? x
                         : arena_printf(arena, "saturate_int(%s, INT32_MIN, INT32_MAX)",
                                        plus_number(arena, arena_printf(arena, "(int64_t)%s", x),
                                                    node, "y_zero", zero));
    return arena_printf(
        arena, "($t)saturate_int(%s, %" PRId64 ", %" PRId64 ")",
        plus_number(arena, arena_printf(arena, "(int64_t)%s", x), node, "y_zero", zero),
        least_of(dtype), most_of(dtype));
}

/* helper(x, multiplier, shift); `of`: "x", "y". */
static const char *scaled(struct arena *arena, const struct node *node, const char *of,
                          const char *helper, const char *x, struct fixed_point factor)
{
    return arena_printf(
        arena, "%s(%s, %s, %s)", helper, x,
        number_i32(arena, node, arena_printf(arena, "%s_multiplier", of), factor.multiplier),
        number_i32(arena, node, arena_printf(arena, "%s_shift", of), factor.shift));
}

/* Whether requantize_down computes this in 32 bits, for any x. */
static bool goes_down(struct fixed_point factor)
{
    return factor.shift < 0 && factor.shift >= -31;
}

static struct fixed_point requantize_factor(const struct node *node, int64_t channel)
{
    const struct value *in_scale = node->inputs[1];
    const int64_t at = type_elements(&in_scale->type) == 1 ? 0 : channel;
    struct fixed_point factor;

    if (is_exact(node)) {
        const struct exact_factor exact = exact_channel_factor(node, channel);

        return (struct fixed_point){ exact.multiplier, exact.shift };
    }
    factor = fixed_point_of(real_of(in_scale, at) / real_of(node->inputs[3], 0));
    if (factor.multiplier == 0) /* any shift will do: one that requantize_down takes */
        factor.shift = -1;
    return factor;
}

/* The same for rounding "onnx". */
static float onnx_factor(const struct node *node, int64_t channel)
{
    const struct value *in_scale = node->inputs[1];
    const int64_t at = type_elements(&in_scale->type) == 1 ? 0 : channel;

    return onnx_factor_of(real_of(in_scale, at), real_of(node->inputs[3], 0));
}

static bool one_onnx_factor(const struct node *node)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    for (int64_t i = 1; i < n; i++)
        if (onnx_factor(node, i) != onnx_factor(node, 0))
            return false;
    return n > 0;
}

/* Whether all channels share one factor. */
static bool one_factor(const struct node *node)
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct fixed_point first = n ? requantize_factor(node, 0) : (struct fixed_point){ 0, 0 };

    for (int64_t i = 1; i < n; i++) {
        const struct fixed_point factor = requantize_factor(node, i);

        if (factor.multiplier != first.multiplier || factor.shift != first.shift)
            return false;
    }
    return true;
}

/* Whether 32 bits hold x, all intermediates and the zero point: an accumulator without a zero
 * point, and factors below 1/2. */
static bool stays_small(const struct node *node, int64_t in_zero)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    if (node->inputs[0]->type.dtype != DTYPE_I32 || in_zero != 0 || n == 0 || is_exact(node))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (!goes_down(requantize_factor(node, i)))
            return false;
    return true;
}

/* Whether the value was cast from 8 bits. */
static bool was_byte(const struct value *value)
{
    return value->def && value->def->op == OP_CAST &&
           dtype_bytes(value->def->inputs[0]->type.dtype) == 1;
}

bool requantize_takes_lanes(const struct node *node)
{
    int64_t in_zero;

    return node->op == OP_QNN_REQUANTIZE && node->inputs[0]->type.dtype == DTYPE_I32 &&
           dtype_bytes(node->outputs[0]->type.dtype) == 1 && !is_exact(node) &&
           fixed_point_rounding_of(node->attrs.requantize.rounding) != ROUND_SINGLE &&
           !rounds_as_onnx(node) && is_known(node->inputs[2], &in_zero) &&
           (in_zero == 0 || was_byte(node->inputs[0]));
}

bool requantize_takes_float_lanes(const struct node *node)
{
    return rounds_as_onnx(node) && dtype_bytes(node->outputs[0]->type.dtype) == 1;
}

bool requantizes_from_0(const struct node *node)
{
    int64_t out_zero;

    return !rounds_as_onnx(node) && node->op == OP_QNN_REQUANTIZE &&
           dtype_bytes(node->outputs[0]->type.dtype) == 1 && is_known(node->inputs[4], &out_zero) &&
           out_zero == least_of(node->outputs[0]->type.dtype);
}

/* clamp(x + zero), in the result's type; it fits 32 bits. */
static const char *clamped(struct arena *arena, const struct node *node, const char *x,
                           int64_t zero)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;

    return arena_printf(arena, "($t)clamp_int(%s, %" PRId64 ", %" PRId64 ")",
                        plus_number(arena, x, node, "y_zero", zero), least_of(dtype),
                        most_of(dtype));
}

/* As requantize_text, in 32 bits. */
static const char *requantize_down_text(struct arena *arena, const struct node *node,
                                        int64_t out_zero, const char **needs)
{
    const char *y = one_factor(node) ? scaled(arena, node, "y", "requantize_down", "$a",
                                              requantize_factor(node, 0))
                                     : "requantize_down($a, $A, $B)";

    *needs = "requantize_down clamp_int";
    return clamped(arena, node, y, out_zero);
}

static const char *onnx_text(struct arena *arena, const struct node *node, int64_t out_zero,
                             const char **needs)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;

    *needs = "requantize_even";
    return arena_printf(
        arena, "($t)requantize_even($a, %s, %s, %" PRId64 ", %" PRId64 ")",
        one_onnx_factor(node) ? number_f32(arena, node, "y_factor", onnx_factor(node, 0)) : "$A",
        number_i32(arena, node, "y_zero", out_zero), least_of(dtype), most_of(dtype));
}

static const char *requantize_text(struct arena *arena, const struct node *node, const char **needs)
{
    const bool once = fixed_point_rounding_of(node->attrs.requantize.rounding) == ROUND_SINGLE;
    const char *helper = once ? "requantize_once" : "requantize", *x, *y;
    int64_t in_zero, out_zero;

    if (!is_known(node->inputs[2], &in_zero) || !is_known(node->inputs[4], &out_zero) ||
        node->inputs[1]->kind != VALUE_CONSTANT || node->inputs[3]->kind != VALUE_CONSTANT)
        return NULL;
    if (rounds_as_onnx(node))
        return onnx_text(arena, node, out_zero, needs);
    if (!once && dtype_bytes(node->outputs[0]->type.dtype) < 4 && stays_small(node, in_zero))
        return requantize_down_text(arena, node, out_zero, needs);
    *needs = once ? "requantize_once saturate_int" : "requantize saturate_int";
    x = in_zero == 0 ? "$a" : minus_number(arena, "(int64_t)$a", node, "x_zero", in_zero);
    y = one_factor(node) && type_elements(&node->inputs[1]->type) > 0
            ? scaled(arena, node, "y", helper, x, requantize_factor(node, 0))
            : arena_printf(arena, "%s(%s, $A, $B)", helper, x);
    return saturated(arena, node, y, out_zero);
}

/* The table of factors for rounding "onnx". */
static void factor_table(struct bind *bind, const struct node *node, struct value **table)
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct type type = type_make(DTYPE_F32, 1, &n);
    float *factors = constant_alloc(bind->region->fn, &type);

    for (int64_t i = 0; i < n; i++)
        factors[i] = onnx_factor(node, i);
    *table = constant_new(bind->region->fn,
                          arena_printf(bind->arena, "%s_factor", node->outputs[0]->name), &type,
                          factors);
}

void qnn_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES])
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct type multiplier = type_make(DTYPE_I32, 1, &n), shift = type_make(DTYPE_I8, 1, &n);
    struct function *fn = bind->region->fn;
    int32_t *multipliers = constant_alloc(fn, &multiplier);
    int8_t *shifts = constant_alloc(fn, &shift);
    const char *name = node->outputs[0]->name;

    if (rounds_as_onnx(node)) {
        factor_table(bind, node, &tables[0]);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const struct fixed_point factor = requantize_factor(node, i);

        multipliers[i] = factor.multiplier;
        shifts[i] = (int8_t)factor.shift;
    }
    tables[0] = constant_new(fn, arena_printf(bind->arena, "%s_multiplier", name), &multiplier,
                             multipliers);
    tables[1] = constant_new(fn, arena_printf(bind->arena, "%s_shift", name), &shift, shifts);
}

/* The constants of add and mul; false if some are unknown. */
struct binary {
    double a_scale, b_scale, out_scale;
    int64_t a_zero, b_zero, out_zero;
};

static bool binary_of(const struct node *node, struct binary *out)
{
    for (int i = 2; i < 8; i++)
        if (node->inputs[i]->kind != VALUE_CONSTANT)
            return false;
    *out = (struct binary){ .a_scale = real_of(node->inputs[2], 0),
                            .b_scale = real_of(node->inputs[4], 0),
                            .out_scale = real_of(node->inputs[6], 0) };
    return is_known(node->inputs[3], &out->a_zero) && is_known(node->inputs[5], &out->b_zero) &&
           is_known(node->inputs[7], &out->out_zero);
}

/* An 8-bit operand in the sum's scale: times 2^shift times the factor. The operand with the larger
 * scale has the factor 1/2, which requantize_down gets as the nearest one below: its operand is even
 * and of less than 30 bits, so nothing is rounded. */
static const char *addend(struct arena *arena, const struct node *node, const char *of,
                          const char *x, struct fixed_point factor, int shift)
{
    if (factor.multiplier == 1 << 30 && factor.shift == 0)
        factor = (struct fixed_point){ INT32_MAX, -1 };
    return scaled(arena, node, of, "requantize_down", arena_printf(arena, "%s * %d", x, 1 << shift),
                  factor);
}

static bool is_addend(struct fixed_point factor)
{
    return (factor.multiplier == 1 << 30 && factor.shift == 0) || goes_down(factor);
}

static struct qnn_div div_of(const struct node *node, const struct binary *binary)
{
    return qnn_div_of(node->inputs[1]->type.dtype, binary->b_zero, binary->a_scale, binary->b_scale,
                      binary->out_scale);
}

void qnn_div_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES])
{
    const int64_t n = QNN_VALUES;
    const struct type type = type_make(DTYPE_I32, 1, &n);
    struct function *fn = bind->region->fn;
    int32_t *reciprocals = constant_alloc(fn, &type);
    struct binary binary;
    struct qnn_div div;

    if (is_exact(node)) {
        exact_div_tables(bind, node, tables);
        return;
    }
    binary_of(node, &binary);
    div = div_of(node, &binary);
    memcpy(reciprocals, div.reciprocals, sizeof div.reciprocals);
    tables[0] = constant_new(fn, arena_printf(bind->arena, "%s_reciprocal", node->outputs[0]->name),
                             &type, reciprocals);
}

static const char *add_text(struct arena *arena, const struct node *node, const char **needs)
{
    const enum dtype dtype = qnn_wider(node->inputs[0]->type.dtype, node->inputs[1]->type.dtype);
    const bool wide = dtype_bytes(dtype) > 1;
    const char sign = node->op == OP_QNN_ADD ? '+' : '-';
    struct qnn_add_factors factors;
    const char *a, *b, *sum;
    struct binary binary;

    if (!binary_of(node, &binary))
        return NULL;
    factors = qnn_add_factors_of(dtype, binary.a_scale, binary.b_scale, binary.out_scale);
    a = centred(arena, "$a", node, "a_zero", binary.a_zero);
    b = centred(arena, "$b", node, "b_zero", binary.b_zero);
    if (!wide && is_addend(factors.a) && is_addend(factors.b) && goes_down(factors.out)) {
        *needs = "requantize_down clamp_int";
        sum = arena_printf(arena, "%s %c %s", addend(arena, node, "a", a, factors.a, factors.shift),
                           sign, addend(arena, node, "b", b, factors.b, factors.shift));
        return clamped(arena, node, scaled(arena, node, "y", "requantize_down", sum, factors.out),
                       binary.out_zero);
    }
    *needs = "requantize saturate_int";
    a = arena_printf(arena, "%s%s * %d", wide ? "(int64_t)" : "", a, 1 << factors.shift);
    b = arena_printf(arena, "%s%s * %d", wide ? "(int64_t)" : "", b, 1 << factors.shift);
    sum = arena_printf(arena, "(int64_t)%s %c %s",
                       scaled(arena, node, "a", "requantize", a, factors.a), sign,
                       scaled(arena, node, "b", "requantize", b, factors.b));
    return saturated(arena, node, scaled(arena, node, "y", "requantize", sum, factors.out),
                     binary.out_zero);
}

static const char *mul_text(struct arena *arena, const struct node *node, const char **needs)
{
    const bool wide =
        dtype_bytes(qnn_wider(node->inputs[0]->type.dtype, node->inputs[1]->type.dtype)) > 1;
    struct fixed_point factor;
    const char *a, *b, *product;
    struct binary binary;

    if (!binary_of(node, &binary))
        return NULL;
    factor = qnn_mul_factor_of(binary.a_scale, binary.b_scale, binary.out_scale);
    a = centred(arena, "$a", node, "a_zero", binary.a_zero);
    b = centred(arena, "$b", node, "b_zero", binary.b_zero);
    product = arena_printf(arena, "%s%s * %s", wide ? "(int64_t)" : "", a, b);
    if (!wide && goes_down(factor)) { /* below 2^16 */
        *needs = "requantize_down clamp_int";
        return clamped(arena, node, scaled(arena, node, "y", "requantize_down", product, factor),
                       binary.out_zero);
    }
    *needs = "requantize saturate_int";
    return saturated(arena, node, scaled(arena, node, "y", "requantize", product, factor),
                     binary.out_zero);
}

/* With 16-bit operands. */
static const char *quotient_of_steps_text(struct arena *arena, const struct node *node,
                                          const struct binary *binary, const char **needs)
{
    const struct fixed_point factor =
        qnn_div_factor_of(binary->a_scale, binary->b_scale, binary->out_scale);
    const int shift = 31 + QNN_DIV_BITS - factor.shift;

    *needs = "quotient_of_steps saturate_int";
    return saturated(arena, node,
                     arena_printf(arena, "quotient_of_steps(%s, %s, %s, %s)",
                                  minus_number(arena, "$a", node, "a_zero", binary->a_zero),
                                  minus_number(arena, "$b", node, "b_zero", binary->b_zero),
                                  number_i32(arena, node, "y_multiplier", factor.multiplier),
                                  /* larger shifts give 0, as does 63 */
                                  number_i32(arena, node, "y_shift", shift < 63 ? shift : 63)),
                     binary->out_zero);
}

/* $A is the array of reciprocals. */
static const char *div_text(struct arena *arena, const struct node *node, const char **needs)
{
    struct binary binary;
    int64_t least;

    if (!binary_of(node, &binary))
        return NULL;
    if (dtype_bytes(node->inputs[1]->type.dtype) > 1)
        return quotient_of_steps_text(arena, node, &binary, needs);
    least = least_of(node->inputs[1]->type.dtype);
    *needs = "quotient_of_codes saturate_int";
    return saturated(arena, node,
                     arena_printf(arena, "quotient_of_codes(%s, $A[%s], %s)",
                                  minus_number(arena, "$a", node, "a_zero", binary.a_zero),
                                  plus(arena, "$b", -least),
                                  number_i32(arena, node, "y_shift", div_of(node, &binary).shift)),
                     binary.out_zero);
}

/* $A: the table; $B: the channel's row and " + ", or nothing. */
static const char *lut_text(struct arena *arena, const struct node *node)
{
    const int64_t least = least_of(node->inputs[0]->type.dtype);

    return least == 0 ? "$A[$B$a]" : arena_printf(arena, "$A[$B$a + %" PRId64 "]", -least);
}

/* $A: the starts of segments; $B: their lines. */
static const char *pwl_text(struct arena *arena, const struct node *node, const char **needs)
{
    const int64_t least = least_of(node->inputs[0]->type.dtype);
    int64_t zero;

    if (!is_known(node->inputs[4], &zero))
        return NULL;
    *needs = "on_segment clamp_int";
    return clamped(arena, node,
                   arena_printf(arena, "on_segment(%s, $A, $B, %" PRId64 ", %d)",
                                plus(arena, "$a", -least), type_elements(&node->inputs[1]->type),
                                qnn_pwl_bits(node->outputs[0]->type.dtype)),
                   zero);
}

const char *qnn_text(struct arena *arena, const struct node *node, const char **needs)
{
    if (is_exact(node))
        return exact_text(arena, node, needs);
    switch (node->op) {
    case OP_QNN_ADD:
    case OP_QNN_SUBTRACT: return add_text(arena, node, needs);
    case OP_QNN_LUT: return lut_text(arena, node);
    case OP_QNN_DIV: return div_text(arena, node, needs);
    case OP_QNN_DEQUANTIZE: return dequantize_text(arena, node, needs);
    case OP_QNN_MUL: return mul_text(arena, node, needs);
    case OP_QNN_PWL: return pwl_text(arena, node, needs);
    case OP_QNN_QUANTIZE: return quantize_text(arena, node, needs);
    case OP_QNN_REQUANTIZE: return requantize_text(arena, node, needs);
    default: return NULL;
    }
}
