/* qnn.c - qnn.quantize, dequantize, requantize, add, subtract, mul and div: numbers with a scale
 * and a zero point, real = scale * (stored - zero). qnn_product.c has the products, qnn_reduce.c
 * averages and sums, qnn_table.c what goes through a table.
 *
 * quantize      saturate(round(x / scale) + zero): the quotient rounded to f32, then to a whole
 *               number, ties to even; NaN becomes 0. To FP8: the quotient rounded to f32, then cast
 * dequantize    (x - zero) * scale: the difference, exact, rounded to f32, then the product
 * requantize    saturate(rescaled(x - in_zero, in_scale / out_scale) + out_zero), where the
 *               quotient is one of doubles and rescaled() is fixed_point_apply. Rounding "onnx":
 *               saturate(round(f32(x) * (in_scale / out_scale)) + out_zero), quotient and product
 *               rounded to f32, round() to a whole number, ties to even; in_zero is 0, the result
 *               has 8 or 16 bits. So do ONNX Runtime's QLinearConv, QLinearMatMul and QGemm
 * mul           saturate(rescaled((a - a_zero) * (b - b_zero), a_scale * b_scale / out_scale) +
 *               out_zero)
 * FP8           requantize, add and mul of FP8 and other narrow floats: exact.h
 * add           with t = 2 * the greater of the scales, n = 20 (a and b of 8 bits) or 15:
 *               saturate(rescaled(rescaled((a - a_zero) * 2^n, a_scale / t) +
 *                                 rescaled((b - b_zero) * 2^n, b_scale / t),
 *                                 t / (2^n * out_scale)) + out_zero)
 * subtract      the same with the second term subtracted
 * div           saturate((a - a_zero) * reciprocal of b's code + out_zero), b of 8 bits:
 *               qnn_div_of. A reciprocal has 30 bits, and is rounded to nearest; no division takes
 *               part
 *
 * a, b and the result of these four may be of different types. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/minifloat.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

/* A vector along an axis of x, or one number: which element belongs to element i of x. */
struct along {
    int64_t n, inner;
};

static struct along along_axis(const struct tensor *x, const struct tensor *vector, int64_t axis)
{
    const int64_t n = type_elements(&vector->type);

    return (struct along){ n, n == 1 ? 1 : type_span(&x->type, (int)axis + 1, x->type.rank) };
}

static int64_t along_at(struct along along, int64_t i)
{
    return i / along.inner % along.n;
}

/* The axis must be right only where a vector lies along it; otherwise it becomes 0. */
static bool check_vector_axis(struct ctx *ctx, const struct node *node, int n_vectors,
                              const int *vectors, int64_t *axis, int64_t *n)
{
    bool needed = false;

    for (int i = 0; i < n_vectors; i++)
        needed = needed || type_elements(input_type(node, vectors[i])) != 1;
    *n = 1;
    if (!needed) {
        *axis = 0;
        return true;
    }
    if (!check_axis(ctx, node, input_type(node, 0), axis))
        return false;
    *n = input_type(node, 0)->dim[*axis];
    return true;
}

/* A narrow float has no zero point but 0. */
static bool is_known_zero(const struct value *value)
{
    const struct tensor zero =
        value->kind == VALUE_CONSTANT ? value_tensor(value) : (struct tensor){ .data = NULL };
    bool ok = value->kind == VALUE_CONSTANT;

    for (int64_t i = 0; ok && i < type_elements(&value->type); i++)
        ok = tensor_at(&zero, i) == 0;
    return ok;
}

static bool check_no_zero(struct ctx *ctx, const struct node *node, int input)
{
    const struct value *value = node->inputs[input];

    if (is_known_zero(value))
        return true;
    return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                      "%s: the zero point of %s is not the constant 0", op_name(node->op),
                      dtype_kind(value->type.dtype) == KIND_MINIFLOAT &&
                              dtype_packed_bits(value->type.dtype) == 8
                          ? "FP8"
                          : dtype_name(value->type.dtype));
}

/* Whether input `input` is of a type that quantised values have; its zero point is input `zero`. */
static bool check_quantized(struct ctx *ctx, const struct node *node, int input, int zero)
{
    const enum dtype_kind kind = dtype_kind(input_type(node, input)->dtype);

    if (kind == KIND_MINIFLOAT)
        return check_no_zero(ctx, node, zero);
    return kind == KIND_NIBBLE || qnn_check_quantized(ctx, node, input);
}

bool infer_qnn_quantize(struct ctx *ctx, struct node *node)
{
    static const int vectors[] = { 1, 2 };
    const enum dtype to = input_type(node, 2)->dtype;
    int64_t n;

    if (!check_vector_axis(ctx, node, 2, vectors, &node->attrs.quantize.axis, &n) ||
        !qnn_check_scale(ctx, node, 1, n) || !qnn_check_vector(ctx, node, 2, n))
        return false;
    if (input_type(node, 0)->dtype != DTYPE_F32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node), "input 0 of %s is %s, expected f32",
                          op_name(node->op), dtype_name(input_type(node, 0)->dtype));
    if (!check_quantized(ctx, node, 2, 2))
        return false;
    set_scaled_output(node, to, input_type(node, 0), 1, 2, node->attrs.quantize.axis);
    return true;
}

bool eval_qnn_quantize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    const struct minifloat *format = type_minifloat(&out->type);
    const struct along scales = along_axis(in[0], in[1], node->attrs.quantize.axis);
    const struct along zeros = along_axis(in[0], in[2], node->attrs.quantize.axis);
    const int64_t n = type_elements(&out->type);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const float q = (float)(tensor_at(in[0], i) / tensor_at(in[1], along_at(scales, i)));

        if (format)
            ((uint8_t *)out->data)[i] =
                (uint8_t)minifloat_encode(format, (double)q, node->attrs.quantize.saturate);
        else
            tensor_put(out, i, rint((double)q) + tensor_at(in[2], along_at(zeros, i)));
    }
    return true;
}

bool infer_qnn_dequantize(struct ctx *ctx, struct node *node)
{
    static const int vectors[] = { 1, 2 };
    const enum dtype from = input_type(node, 0)->dtype;
    int64_t n;

    if (!check_vector_axis(ctx, node, 2, vectors, &node->attrs.axis.axis, &n) ||
        !qnn_check_scale(ctx, node, 1, n) || !qnn_check_zero(ctx, node, 2, from, n) ||
        (from != DTYPE_I32 && !check_quantized(ctx, node, 0, 2)))
        return false;
    set_output(node, 0, DTYPE_F32, input_type(node, 0));
    return true;
}

bool eval_qnn_dequantize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                         struct tensor *out)
{
    const struct along scales = along_axis(in[0], in[1], node->attrs.axis.axis);
    const struct along zeros = along_axis(in[0], in[2], node->attrs.axis.axis);
    const int64_t n = type_elements(&out->type);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const double x = tensor_at(in[0], i), zero = tensor_at(in[2], along_at(zeros, i));

        tensor_put(out, i, (double)(float)(x - zero) * tensor_at(in[1], along_at(scales, i)));
    }
    return true;
}

static bool is_exact_result(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_MINIFLOAT || dtype == DTYPE_I64;
}

/* A product of scales may be one of doubles (TensorFlow Lite's of convolutions is). */
static bool check_in_scale(struct ctx *ctx, const struct node *node, int64_t n)
{
    return input_type(node, 1)->dtype == DTYPE_F64 ? qnn_check_vector(ctx, node, 1, n)
                                                   : qnn_check_scale(ctx, node, 1, n);
}

bool infer_qnn_requantize(struct ctx *ctx, struct node *node)
{
    static const char *const words[] = { "double", "single", "onnx" };
    static const int vectors[] = { 1 };
    struct requantize_attrs *attrs = &node->attrs.requantize;
    int64_t n;

    if (is_exact_result(input_type(node, 4)->dtype))
        return infer_exact_requantize(ctx, node);
    if (!check_vector_axis(ctx, node, 1, vectors, &attrs->axis, &n) ||
        !check_in_scale(ctx, node, n) || !qnn_check_zero(ctx, node, 2, DTYPE_I32, 1) ||
        !qnn_check_scale(ctx, node, 3, 1) || !qnn_check_vector(ctx, node, 4, 1) ||
        !check_word(ctx, node, "rounding", &attrs->rounding, words, 3))
        return false;
    if (input_type(node, 0)->dtype != DTYPE_I32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node), "input 0 of %s is %s, expected i32",
                          op_name(node->op), dtype_name(input_type(node, 0)->dtype));
    if ((input_type(node, 4)->dtype != DTYPE_I32 || rounds_as_onnx(node)) &&
        !qnn_check_quantized(ctx, node, 4))
        return false;
    if (rounds_as_onnx(node) && node->inputs[2]->kind == VALUE_CONSTANT &&
        !is_known_zero(node->inputs[2]))
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: with rounding \"onnx\" input 2, the zero point of x, must be the "
                          "constant 0",
                          op_name(node->op));
    set_scaled_output(node, input_type(node, 4)->dtype, input_type(node, 0), 3, 4, -1);
    return true;
}

bool rounds_as_onnx(const struct node *requantize)
{
    return requantize->op == OP_QNN_REQUANTIZE &&
           strcmp(requantize->attrs.requantize.rounding, "onnx") == 0;
}

float onnx_factor_of(double in_scale, double out_scale)
{
    const double quotient = in_scale / out_scale;

    return quotient < (double)FLT_MAX ? (float)quotient : FLT_MAX;
}

/* Within what 16 bits and any zero point leave: what is beyond is saturated anyway. */
static int64_t rounded_as_onnx(int64_t x, float factor)
{
    const volatile float product = (float)x * factor;

    return (int64_t)fmin(fmax(rint((double)product), -0x1p20), 0x1p20);
}

bool eval_qnn_requantize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                         struct tensor *out)
{
    const enum fixed_point_rounding rounding =
        fixed_point_rounding_of(node->attrs.requantize.rounding);
    const struct along scales = along_axis(in[0], in[1], node->attrs.requantize.axis);
    const int64_t n = type_elements(&out->type), in_zero = tensor_int_at(in[2], 0);
    const int64_t out_zero = tensor_int_at(in[4], 0);
    const double out_scale = tensor_at(in[3], 0);

    if (is_exact_result(out->type.dtype))
        return eval_exact_requantize(ctx, node, in, out);
    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const double in_scale = tensor_at(in[1], along_at(scales, i));
        const struct fixed_point factor = fixed_point_of(in_scale / out_scale);
        const int64_t x = tensor_int_at(in[0], i) - in_zero;
        const int64_t y = rounds_as_onnx(node)
                              ? rounded_as_onnx(x, onnx_factor_of(in_scale, out_scale))
                              : fixed_point_apply(factor, x, rounding);

        qnn_put_saturated(out, i, y + out_zero);
    }
    return true;
}

/* Inputs of add and mul. */
enum { A, B, A_SCALE, A_ZERO, B_SCALE, B_ZERO, OUT_SCALE, OUT_ZERO };

bool infer_qnn_binary(struct ctx *ctx, struct node *node)
{
    const struct type *a = input_type(node, A), *b = input_type(node, B);
    struct type shape;

    if (dtype_kind(a->dtype) == KIND_MINIFLOAT)
        return infer_exact_binary(ctx, node);
    if (!qnn_check_quantized(ctx, node, A) || !qnn_check_quantized(ctx, node, B) ||
        !qnn_check_quantized(ctx, node, OUT_ZERO) || !qnn_check_vector(ctx, node, OUT_ZERO, 1) ||
        !qnn_check_zero(ctx, node, A_ZERO, a->dtype, 1) ||
        !qnn_check_zero(ctx, node, B_ZERO, b->dtype, 1))
        return false;
    for (int i = A_SCALE; i <= OUT_SCALE; i += 2)
        if (!qnn_check_scale(ctx, node, i, 1))
            return false;
    if (!shape_broadcast(a, b, &shape))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shapes %s and %s do not broadcast: dimensions must be equal or 1",
                          op_name(node->op), shape_text(&ctx->perm, a), shape_text(&ctx->perm, b));
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, &shape, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

struct qnn_div qnn_div_of(enum dtype b, int64_t b_zero, double a_scale, double b_scale,
                          double out_scale)
{
    const double factor = a_scale / (b_scale * out_scale);
    const int64_t least = (int64_t)dtype_least(b);
    struct qnn_div div = { .shift = 46 };

    while (div.shift > 1 && !(ldexp(factor, div.shift) <= 0x1p30))
        div.shift--;
    for (int code = 0; code < QNN_VALUES; code++) {
        const int64_t d = code + least - b_zero;
        const double reciprocal = d ? rint(ldexp(factor / (double)d, div.shift)) : 0;

        div.reciprocals[code] = d == 0 ? QNN_BY_ZERO
                                : isnan(reciprocal)
                                    ? 0
                                    : (int32_t)fmax(fmin(reciprocal, 0x1p30), -0x1p30);
    }
    return div;
}

static int64_t by_zero(int64_t a)
{
    return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
}

static int64_t divided(const struct qnn_div *div, int64_t a, int64_t code)
{
    const int64_t reciprocal = div->reciprocals[code];

    return reciprocal == QNN_BY_ZERO ? by_zero(a) : shifted_to_nearest(a * reciprocal, div->shift);
}

struct fixed_point qnn_div_factor_of(double a_scale, double b_scale, double out_scale)
{
    return fixed_point_of(a_scale / (b_scale * out_scale));
}

int64_t qnn_quotient(struct fixed_point factor, int64_t a, int64_t b)
{
    const int64_t sign = (a < 0) == (b < 0) ? 1 : -1;
    int64_t quotient;

    if (b == 0)
        return by_zero(a);
    quotient = ((a < 0 ? -a : a) * factor.multiplier << QNN_DIV_BITS) / (b < 0 ? -b : b);
    return sign * shifted_to_nearest(quotient, 31 + QNN_DIV_BITS - factor.shift);
}

/* sign: of b. */
static int64_t added(const struct qnn_add_factors *factors, int64_t a, int64_t b, int sign)
{
    const int64_t unit = (int64_t)1 << factors->shift;
    const int64_t x = fixed_point_apply(factors->a, a * unit, ROUND_DOUBLE);
    const int64_t y = fixed_point_apply(factors->b, b * unit, ROUND_DOUBLE);

    return fixed_point_apply(factors->out, x + sign * y, ROUND_DOUBLE);
}

bool eval_qnn_binary(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const double a_scale = tensor_at(in[A_SCALE], 0), b_scale = tensor_at(in[B_SCALE], 0);
    const double out_scale = tensor_at(in[OUT_SCALE], 0);
    const struct qnn_add_factors factors = qnn_add_factors_of(
        qnn_wider(in[A]->type.dtype, in[B]->type.dtype), a_scale, b_scale, out_scale);
    const bool by_table = node->op == OP_QNN_DIV && dtype_bytes(in[B]->type.dtype) == 1;
    const struct fixed_point factor = node->op == OP_QNN_DIV
                                          ? qnn_div_factor_of(a_scale, b_scale, out_scale)
                                          : qnn_mul_factor_of(a_scale, b_scale, out_scale);
    const int64_t least =
        dtype_is_integer(in[B]->type.dtype) ? (int64_t)dtype_least(in[B]->type.dtype) : 0;
    struct qnn_div div;
    const int64_t n = type_elements(&out->type), zero = tensor_int_at(in[OUT_ZERO], 0);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);

    if (dtype_kind(out->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_binary(ctx, node, in, out);
    (void)ctx;
    if (by_table)
        div = qnn_div_of(in[B]->type.dtype, tensor_int_at(in[B_ZERO], 0), a_scale, b_scale,
                         out_scale);
    walk_add_broadcast(&walk, &in[A]->type);
    walk_add_broadcast(&walk, &in[B]->type);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const int64_t a = tensor_int_at(in[A], walk.offset[0]) - tensor_int_at(in[A_ZERO], 0);
        const int64_t b = tensor_int_at(in[B], walk.offset[1]) - tensor_int_at(in[B_ZERO], 0);

        int64_t y;

        switch (node->op) {
        case OP_QNN_DIV:
            y = by_table ? divided(&div, a, b + tensor_int_at(in[B_ZERO], 0) - least)
                         : qnn_quotient(factor, a, b);
            break;
        case OP_QNN_MUL: y = fixed_point_apply(factor, a * b, ROUND_DOUBLE); break;
        default: y = added(&factors, a, b, node->op == OP_QNN_ADD ? 1 : -1); break;
        }
        qnn_put_saturated(out, i, zero + y);
    }
    return true;
}
