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
#include "codegen_c/expr/qnn_terms.h"
#include "codegen_c/expr/scalar.h"
#include "codegen_c/expr/scalar_exact.h"

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
    if (dtype_bytes(to) == 1 || !qnn_is_known(node->inputs[2], &zero) || zero != 0)
        quotient = arena_printf(arena, "%s + (float)$c", quotient);
    return arena_printf(arena, "($t)saturate_f32(%s, %" PRId64 ".0f, %" PRId64 ".0f)", quotient,
                        qnn_least(to), qnn_most(to));
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
    if (from != DTYPE_I32) {
        *needs = *needs && **needs ? arena_printf(arena, "%s f32_of_i32", *needs) : "f32_of_i32";
        return arena_printf(arena, one ? "f32_of_i32($a - $c)" : "f32_of_i32($a - $c) * $b");
    }
    if (!qnn_is_known(node->inputs[2], &zero))
        x = "((int64_t)$a - $c)";
    else
        x = zero == 0 ? "$a" : qnn_centred(arena, "(int64_t)$a", node, "x_zero", zero);
    return arena_printf(arena, one ? "(float)%s" : "(float)%s * $b", x);
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
    *out = (struct binary){ .a_scale = qnn_real(node->inputs[2], 0),
                            .b_scale = qnn_real(node->inputs[4], 0),
                            .out_scale = qnn_real(node->inputs[6], 0) };
    return qnn_is_known(node->inputs[3], &out->a_zero) &&
           qnn_is_known(node->inputs[5], &out->b_zero) &&
           qnn_is_known(node->inputs[7], &out->out_zero);
}

/* An 8-bit operand in the sum's scale: times 2^shift times the factor. The operand with the larger
 * scale has the factor 1/2, which requantize_down gets as the nearest one below: its operand is even
 * and of less than 30 bits, so nothing is rounded. */
static const char *addend(struct arena *arena, const struct node *node, const char *of,
                          const char *x, struct fixed_point factor, int shift)
{
    if (factor.multiplier == 1 << 30 && factor.shift == 0)
        factor = (struct fixed_point){ INT32_MAX, -1 };
    return qnn_scaled(arena, node, of, "requantize_down",
                      arena_printf(arena, "%s * %d", x, 1 << shift), factor);
}

static bool is_addend(struct fixed_point factor)
{
    return (factor.multiplier == 1 << 30 && factor.shift == 0) || qnn_goes_down(factor);
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
    a = qnn_centred(arena, "$a", node, "a_zero", binary.a_zero);
    b = qnn_centred(arena, "$b", node, "b_zero", binary.b_zero);
    if (!wide && is_addend(factors.a) && is_addend(factors.b) && qnn_goes_down(factors.out)) {
        *needs = "requantize_down clamp_int";
        sum = arena_printf(arena, "%s %c %s", addend(arena, node, "a", a, factors.a, factors.shift),
                           sign, addend(arena, node, "b", b, factors.b, factors.shift));
        return qnn_clamped(arena, node,
                           qnn_scaled(arena, node, "y", "requantize_down", sum, factors.out),
                           binary.out_zero);
    }
    *needs = "requantize saturate_int";
    a = arena_printf(arena, "%s%s * %d", wide ? "(int64_t)" : "", a, 1 << factors.shift);
    b = arena_printf(arena, "%s%s * %d", wide ? "(int64_t)" : "", b, 1 << factors.shift);
    sum = arena_printf(arena, "(int64_t)%s %c %s",
                       qnn_scaled(arena, node, "a", "requantize", a, factors.a), sign,
                       qnn_scaled(arena, node, "b", "requantize", b, factors.b));
    return qnn_saturated(arena, node, qnn_scaled(arena, node, "y", "requantize", sum, factors.out),
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
    a = qnn_centred(arena, "$a", node, "a_zero", binary.a_zero);
    b = qnn_centred(arena, "$b", node, "b_zero", binary.b_zero);
    product = arena_printf(arena, "%s%s * %s", wide ? "(int64_t)" : "", a, b);
    if (!wide && qnn_goes_down(factor)) { /* below 2^16 */
        *needs = "requantize_down clamp_int";
        return qnn_clamped(arena, node,
                           qnn_scaled(arena, node, "y", "requantize_down", product, factor),
                           binary.out_zero);
    }
    *needs = "requantize saturate_int";
    return qnn_saturated(arena, node, qnn_scaled(arena, node, "y", "requantize", product, factor),
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
    return qnn_saturated(arena, node,
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
    least = qnn_least(node->inputs[1]->type.dtype);
    *needs = "quotient_of_codes saturate_int";
    return qnn_saturated(
        arena, node,
        arena_printf(arena, "quotient_of_codes(%s, $A[%s], %s)",
                     minus_number(arena, "$a", node, "a_zero", binary.a_zero),
                     qnn_plus(arena, "$b", -least),
                     number_i32(arena, node, "y_shift", div_of(node, &binary).shift)),
        binary.out_zero);
}

/* $A: the table; $B: the channel's row and " + ", or nothing. */
static const char *lut_text(struct arena *arena, const struct node *node)
{
    const int64_t least = qnn_least(node->inputs[0]->type.dtype);

    return least == 0 ? "$A[$B$a]" : arena_printf(arena, "$A[$B$a + %" PRId64 "]", -least);
}

/* $A: the starts of segments; $B: their lines. */
static const char *pwl_text(struct arena *arena, const struct node *node, const char **needs)
{
    const int64_t least = qnn_least(node->inputs[0]->type.dtype);
    int64_t zero;

    if (!qnn_is_known(node->inputs[4], &zero))
        return NULL;
    *needs = "on_segment clamp_int";
    return qnn_clamped(arena, node,
                       arena_printf(arena, "on_segment(%s, $A, $B, %" PRId64 ", %d)",
                                    qnn_plus(arena, "$a", -least),
                                    type_elements(&node->inputs[1]->type),
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
    case OP_QNN_REQUANTIZE: return qnn_requantize_text(arena, node, needs);
    default: return NULL;
    }
}
