/* convert_qnn.c - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear; see convert_qnn.h. */
#include <math.h>

#include "frontend/onnx/convert_qnn.h"
#include "frontend/onnx/e8m0.h"

struct value *zero_point(struct onnx_node *node, int i, enum dtype dtype)
{
    struct value *zero = onnx_input(node, i);

    return zero ? zero : onnx_scalar(node, dtype, 0, "zero");
}

struct value *scale_input(struct onnx_node *node, int i)
{
    struct value *scale = onnx_input(node, i);
    struct tensor tensor;

    if (!scale || !onnx_check_kind(node, i, TAKES_FLOAT))
        return NULL;
    if (scale->kind != VALUE_CONSTANT)
        return cast_to(node, scale, DTYPE_F32, "scale");
    tensor = value_tensor(scale);
    for (int64_t k = 0; k < type_elements(&tensor.type); k++)
        if (!(tensor_at(&tensor, k) > 0) || isinf(tensor_at(&tensor, k))) {
            onnx_unsupported(node, "input %d is a scale of %g, expected a positive number", i,
                             tensor_at(&tensor, k));
            return NULL;
        }
    return cast_to(node, scale, DTYPE_F32, "scale");
}

static struct value *quantized_along(struct onnx_node *node, struct value *x, struct value *scale,
                                     struct value *zero, int64_t axis, bool saturate,
                                     const char *suffix)
{
    const union attrs attrs = { .quantize = { .axis = axis, .saturate = saturate } };
    struct value *inputs[] = { x, scale, zero };

    return x && scale && zero ? onnx_build(node, OP_QNN_QUANTIZE, &attrs, suffix, 3, inputs) : NULL;
}

static struct value *dequantized_along(struct onnx_node *node, struct value *x, struct value *scale,
                                       struct value *zero, int64_t axis, const char *suffix)
{
    const union attrs attrs = { .axis = { .axis = axis } };
    struct value *inputs[] = { x, scale, zero };

    return x && scale && zero ? onnx_build(node, OP_QNN_DEQUANTIZE, &attrs, suffix, 3, inputs)
                              : NULL;
}

struct value *quantized(struct onnx_node *node, struct value *x, int scale, int zero,
                        enum dtype dtype, const char *suffix)
{
    return x ? quantized_along(node, x, scale_input(node, scale), zero_point(node, zero, dtype), 0,
                               true, suffix)
             : NULL;
}

struct value *dequantized(struct onnx_node *node, struct value *x, int scale, int zero,
                          const char *suffix)
{
    return x ? dequantized_along(node, x, scale_input(node, scale),
                                 zero_point(node, zero, x->type.dtype), 0, suffix)
             : NULL;
}

struct value *product_of_scales(struct onnx_node *node, int a, int b, double factor)
{
    struct tensor first, second, product;
    struct bulk bulk = { NULL, 0 };
    struct value *value;

    if (!onnx_constant(node, a, &first) || !onnx_constant(node, b, &second) ||
        !scale_input(node, a) || !scale_input(node, b))
        return NULL;
    if (type_elements(&first.type) != 1 || second.type.rank > 1) {
        onnx_unsupported(node,
                         "inputs %d and %d have shapes %s and %s; relayc takes one scale for "
                         "the first operand and one or a list for the second",
                         a, b, shape_text(&node->ctx->perm, &first.type),
                         shape_text(&node->ctx->perm, &second.type));
        return NULL;
    }
    product = tensor_new(&bulk, &(struct type){ .dtype = DTYPE_F32,
                                                .rank = second.type.rank,
                                                .dim = { second.type.dim[0] } });
    for (int64_t i = 0; i < type_elements(&second.type); i++)
        dtype_store(DTYPE_F32, product.data, i,
                    factor * tensor_at(&first, 0) * tensor_at(&second, i));
    value = onnx_from_tensor(node, &product, "scale");
    bulk_release(&bulk);
    return value;
}

struct value *requantized(struct onnx_node *node, struct value *x, struct value *in_scale,
                          int64_t axis, int scale, int zero, const char *suffix)
{
    const union attrs attrs = { .requantize = { .axis = axis, .rounding = "double" } };
    struct value *inputs[] = { x, in_scale, onnx_scalar(node, DTYPE_I32, 0, "in_zero"),
                               scale_input(node, scale), onnx_input(node, zero) };
    struct tensor known;

    if (!onnx_constant(node, scale, &known) || !onnx_constant(node, zero, &known) || !x ||
        !in_scale || !inputs[2] || !inputs[3])
        return NULL;
    return onnx_build(node, OP_QNN_REQUANTIZE, &attrs, suffix, 5, inputs);
}

static bool is_one(const struct value *value)
{
    return value && type_elements(&value->type) == 1;
}

struct value *rescaled(struct onnx_node *node, struct value *x, int a, int b, int64_t axis,
                       int scale, int zero, const char *suffix)
{
    struct value *first = scale_input(node, a), *second = scale_input(node, b);
    static const struct ints scalar = { 0 };

    if (!x || !first || !second)
        return NULL;
    if (onnx_is_known(node, a) && onnx_is_known(node, b) && onnx_is_known(node, scale) &&
        onnx_is_known(node, zero))
        return requantized(node, x, product_of_scales(node, a, b, 1), axis, scale, zero, suffix);
    if (!is_one(first) || second->type.rank > 1 || !is_one(onnx_input(node, scale)) ||
        !is_one(onnx_input(node, zero))) {
        onnx_unsupported(
            node,
            "scales of shapes %s, %s and %s that are known at run time only: relayc takes one, one "
            "or a list, and one",
            shape_text(&node->ctx->perm, &first->type), shape_text(&node->ctx->perm, &second->type),
            shape_text(&node->ctx->perm, &onnx_input(node, scale)->type));
        return NULL;
    }
    first = apply2(node, OP_MULTIPLY, "in_scale", reshape_to(node, first, &scalar, "first_scale"),
                   second);
    x = dequantized_along(node, x, first, onnx_scalar(node, DTYPE_I32, 0, "in_zero"), axis, "real");
    return quantized(node, x, scale, zero, DTYPE_U8, suffix);
}

/* --- QuantizeLinear, DequantizeLinear --------------------------------------------------------- */

/* The type that the result has: the zero point's, else that of attribute output_dtype. */
static bool read_type(struct onnx_node *node, enum dtype *dtype)
{
    const int64_t code = onnx_int(node, "output_dtype", 0);
    const struct value *zero = onnx_input(node, 2);

    *dtype = zero ? zero->type.dtype : DTYPE_U8;
    if (!onnx_ok(node) || code == 0)
        return onnx_ok(node);
    if (!zero)
        *dtype = code > 0 && code <= INT32_MAX ? dtype_from_onnx((int32_t)code) : DTYPE_NONE;
    if (*dtype != DTYPE_NONE)
        return true;
    return bad_attribute(node, "attribute output_dtype is %lld, which relayc does not know",
                         (long long)code);
}

/* The type in which QuantizeLinear divides (operator set 23): that of the scale, or what
 * `precision` says. relayc divides in f32. */
static bool check_precision(struct onnx_node *node)
{
    const int64_t code = onnx_int(node, "precision", 0);

    if (code == 0 || code == 1 || !onnx_ok(node))
        return onnx_ok(node);
    return bad_attribute(node, "attribute precision is %lld, relayc divides in f32 (1)",
                         (long long)code);
}

/* Scales that are f8e8m0 (operator set 24, MX) become f32. */
static bool read_scales(struct onnx_node *node)
{
    if (onnx_input(node, 1)->type.dtype == DTYPE_F8E8M0)
        node->inputs[1] = e8m0_to_f32(node, onnx_input(node, 1), "scales");
    return node->inputs[1];
}

/* The floating-point type that DequantizeLinear gives: attribute output_dtype, else the scale's. */
static bool read_real_type(struct onnx_node *node, enum dtype *dtype)
{
    const int64_t code = onnx_int(node, "output_dtype", 0);

    *dtype = onnx_input(node, 1)->type.dtype;
    if (*dtype == DTYPE_F8E8M0 && code == 0)
        return onnx_ok(node) &&
               bad_attribute(node, "scales of f8e8m0 need the attribute output_dtype");
    if (code == 0 || !onnx_ok(node))
        return onnx_ok(node);
    *dtype = code > 0 && code <= INT32_MAX ? dtype_from_onnx((int32_t)code) : DTYPE_NONE;
    if (dtype_is_float(*dtype))
        return true;
    return bad_attribute(node,
                         "attribute output_dtype is %lld, which is not an floating-point type",
                         (long long)code);
}

/* The zero point. That of a narrow float is 0, and gives the type: at run time nobody reads it. */
static struct value *zero_of(struct onnx_node *node, enum dtype dtype)
{
    const bool is_read = !dtype_minifloat(dtype) || onnx_is_known(node, 2);

    return is_read ? zero_point(node, 2, dtype) : onnx_scalar(node, dtype, 0, "zero");
}

bool convert_quantize_linear(struct onnx_node *node)
{
    const int64_t axis = onnx_int(node, "axis", 1);
    const bool saturate = onnx_int(node, "saturate", 1) != 0;
    enum dtype dtype;
    struct value *x;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !read_type(node, &dtype) || !check_precision(node) || !read_scales(node))
        return false;
    x = cast_to(node, onnx_input(node, 0), DTYPE_F32, "x");
    if (has_blocks(node))
        return quantize_blocks(node, x, dtype);
    if (!onnx_ok(node))
        return false;
    return onnx_output(node, 0,
                       quantized_along(node, x, scale_input(node, 1), zero_of(node, dtype), axis,
                                       saturate || !dtype_minifloat(dtype), ""));
}

bool convert_dequantize_linear(struct onnx_node *node)
{
    const int64_t axis = onnx_int(node, "axis", 1);
    struct value *x = onnx_input(node, 0), *y;
    enum dtype dtype;

    if (!onnx_check_inputs(node, 2, 3) || !read_real_type(node, &dtype) || !read_scales(node))
        return false;
    if (has_blocks(node))
        return dequantize_blocks(node, dtype);
    if (!onnx_ok(node))
        return false;
    y = dequantized_along(node, x, scale_input(node, 1), zero_of(node, x->type.dtype), axis,
                          dtype == DTYPE_F32 ? "" : "wide");
    return onnx_output(node, 0, cast_to(node, y, dtype, ""));
}

/* --- DynamicQuantizeLinear -------------------------------------------------------------------- */

/* The least or greatest number of x, or 0 if that is less or greater. */
static struct value *extreme(struct onnx_node *node, struct value *x, bool greatest,
                             const char *suffix)
{
    const struct ints all = { .n = 0 };
    struct value *zero = scalar_like(node, x, 0, "zero");

    x = reduce_with(node, greatest ? OP_MAX : OP_MIN, x, &all, false, suffix);
    return apply2(node, greatest ? OP_MAXIMUM : OP_MINIMUM, suffix, x, zero);
}

/* (greatest - least) / 255; 1 for a tensor of zeros, as ONNX Runtime has it. */
static struct value *dynamic_scale(struct onnx_node *node, struct value *x, struct value *least)
{
    struct value *range =
        apply2(node, OP_SUBTRACT, "range", extreme(node, x, true, "greatest"), least);
    struct value *inputs[3];

    inputs[2] = apply2(node, OP_DIVIDE, "step", range, scalar_like(node, range, 255, "levels"));
    inputs[1] = scalar_like(node, range, 1, "one");
    inputs[0] = apply2(node, OP_EQUAL, "flat", inputs[2], scalar_like(node, range, 0, "nothing"));
    return inputs[0] && inputs[1] ? onnx_build(node, OP_WHERE, NULL, "scale", 3, inputs) : NULL;
}

static struct value *dynamic_zero(struct onnx_node *node, struct value *least, struct value *scale)
{
    const union attrs bounds = { .clip = { .a_min = 0, .a_max = 255 } };
    struct value *zero = apply1(node, OP_NEGATIVE, "below", least);

    zero = apply2(node, OP_DIVIDE, "real_zero", zero, scale);
    zero = zero ? onnx_build1(node, OP_CLIP, &bounds, "bounded_zero", zero) : NULL;
    return cast_to(node, apply1(node, OP_ROUND, "whole_zero", zero), DTYPE_U8, "zero_point");
}

bool quantize_at_run_time(struct onnx_node *node, struct value *x, const char *suffix,
                          struct value *out[3])
{
    struct value *least;

    x = cast_to(node, x, DTYPE_F32, "x");
    least = extreme(node, x, false, "least");
    out[1] = least ? dynamic_scale(node, x, least) : NULL;
    out[2] = out[1] ? dynamic_zero(node, least, out[1]) : NULL;
    out[0] = quantized_along(node, x, out[1], out[2], 0, true, suffix);
    return out[0] != NULL;
}

bool convert_dynamic_quantize_linear(struct onnx_node *node)
{
    struct value *quantized[3] = { NULL };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !quantize_at_run_time(node, onnx_input(node, 0), "", quantized))
        return false;
    return onnx_output(node, 0, quantized[0]) &&
           (node->n_outputs < 2 || onnx_output(node, 1, quantized[1])) &&
           (node->n_outputs < 3 || onnx_output(node, 2, quantized[2]));
}
