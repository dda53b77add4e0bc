/* convert_elementwise.c - operators that work element by element: unary and binary arithmetic,
 * comparisons, logic, bits; Cast; Clip; the variadic Sum, Mean, Max and Min. */
#include <math.h>
#include <string.h>

#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/e8m0.h"

/* What an operator takes where that is more, or other, than floating point. */
static const unsigned char takes[OP_COUNT] = {
    [OP_ABS] = TAKES_NUMBER,          [OP_ADD] = TAKES_NUMBER,
    [OP_BITWISE_AND] = TAKES_INTEGER, [OP_BITWISE_NOT] = TAKES_INTEGER,
    [OP_BITWISE_OR] = TAKES_INTEGER,  [OP_BITWISE_XOR] = TAKES_INTEGER,
    [OP_DIVIDE] = TAKES_NUMBER,       [OP_EQUAL] = TAKES_ANY,
    [OP_GREATER] = TAKES_NUMBER,      [OP_GREATER_EQUAL] = TAKES_NUMBER,
    [OP_LESS] = TAKES_NUMBER,         [OP_LESS_EQUAL] = TAKES_NUMBER,
    [OP_LOGICAL_AND] = TAKES_BOOL,    [OP_LOGICAL_NOT] = TAKES_BOOL,
    [OP_LOGICAL_OR] = TAKES_BOOL,     [OP_LOGICAL_XOR] = TAKES_BOOL,
    [OP_MAXIMUM] = TAKES_NUMBER,      [OP_MINIMUM] = TAKES_NUMBER,
    [OP_MULTIPLY] = TAKES_NUMBER,     [OP_NEGATIVE] = TAKES_NUMBER,
    [OP_PRELU] = TAKES_NUMBER,        [OP_RELU] = TAKES_NUMBER,
    [OP_SIGN] = TAKES_NUMBER,         [OP_SUBTRACT] = TAKES_NUMBER,
};

static bool check_operands(struct onnx_node *node, enum op op)
{
    bool ok = true;

    for (int i = 0; i < node->n_inputs; i++)
        ok = onnx_check_kind(node, i, takes[op] ? takes[op] : TAKES_FLOAT) && ok;
    return ok;
}

bool convert_unary(struct onnx_node *node)
{
    enum op op = (enum op)node->arg;

    return onnx_check_inputs(node, 1, 1) && check_operands(node, op) &&
           onnx_output(node, 0, apply1(node, op, "", onnx_input(node, 0)));
}

bool convert_binary(struct onnx_node *node)
{
    enum op op = (enum op)node->arg;

    return onnx_check_inputs(node, 2, 2) && check_operands(node, op) &&
           onnx_output(node, 0, apply2(node, op, "", onnx_input(node, 0), onnx_input(node, 1)));
}

bool convert_identity(struct onnx_node *node)
{
    return onnx_check_inputs(node, 1, 1) && onnx_output(node, 0, onnx_input(node, 0));
}

/* The slope broadcasts to x, never the other way round. */
bool convert_prelu(struct onnx_node *node)
{
    struct value *y;

    if (!onnx_check_inputs(node, 2, 2) || !check_operands(node, OP_PRELU))
        return false;
    y = apply2(node, OP_PRELU, "", onnx_input(node, 0), onnx_input(node, 1));
    if (y && !type_same_shape(&y->type, &onnx_input(node, 0)->type))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "a slope of shape %s does not broadcast to %s",
                          shape_text(&node->ctx->perm, &onnx_input(node, 1)->type),
                          shape_text(&node->ctx->perm, &onnx_input(node, 0)->type));
    return onnx_output(node, 0, y);
}

/* The result has the type of the base. A whole exponent stays exact in the base's type; a broken
 * one of a whole base needs floating point in between. */
bool convert_pow(struct onnx_node *node)
{
    struct value *base = onnx_input(node, 0), *exponent = onnx_input(node, 1), *y;
    enum dtype dtype;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_kind(node, 1, TAKES_NUMBER))
        return false;
    dtype = base->type.dtype;
    if (dtype_is_float(dtype) || !dtype_is_float(exponent->type.dtype)) {
        exponent = cast_to(node, exponent, dtype, "exponent");
        return onnx_output(node, 0, apply2(node, OP_POWER, "", base, exponent));
    }
    base = cast_to(node, base, exponent->type.dtype, "base");
    y = apply2(node, OP_POWER, "power", base, exponent);
    return onnx_output(node, 0, cast_to(node, y, dtype, ""));
}

/* Of signed integers from operator set 28 on. */
bool convert_bit_shift(struct onnx_node *node)
{
    const char *direction = onnx_word(node, "direction", "");
    bool left = strcmp(direction, "LEFT") == 0;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_ok(node))
        return false;
    if (!left && strcmp(direction, "RIGHT") != 0)
        return bad_attribute(node, "attribute direction is neither LEFT nor RIGHT");
    for (int i = 0; i < 2; i++)
        if (dtype_kind(onnx_input(node, i)->type.dtype) != KIND_UINT &&
            (node->opset < 28 || dtype_kind(onnx_input(node, i)->type.dtype) != KIND_INT))
            return diag_error(
                node->ctx, DIAG_TYPE, node->origin, "input %d is %s, BitShift takes %sintegers", i,
                dtype_name(onnx_input(node, i)->type.dtype), node->opset < 28 ? "unsigned " : "");
    return onnx_output(node, 0,
                       apply2(node, left ? OP_LEFT_SHIFT : OP_RIGHT_SHIFT, "", onnx_input(node, 0),
                              onnx_input(node, 1)));
}

/* fmod 0: the sign of the divisor (Python's %), of floats from operator set 28 on; 1: the sign of
 * the dividend (C). */
bool convert_mod(struct onnx_node *node)
{
    int64_t fmod_sign = onnx_int(node, "fmod", 0);

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_NUMBER) || !onnx_ok(node))
        return false;
    if (fmod_sign == 0 && node->opset < 28 && dtype_is_float(onnx_input(node, 0)->type.dtype))
        return bad_attribute(node, "attribute fmod must be 1 for floating-point operands");
    return onnx_output(node, 0,
                       apply2(node, fmod_sign ? OP_MOD : OP_FLOOR_MOD, "", onnx_input(node, 0),
                              onnx_input(node, 1)));
}

/* Sum, Max, Min: a chain of binary operators. */
bool convert_variadic(struct onnx_node *node)
{
    enum op op = (enum op)node->arg;
    struct value *y = onnx_input(node, 0);

    if (!onnx_check_inputs(node, node->n_inputs > 1 ? node->n_inputs : 1, -1) ||
        !check_operands(node, op))
        return false;
    for (int i = 1; i < node->n_inputs; i++)
        y = apply2(node, op, i + 1 == node->n_inputs ? "" : "part", y, onnx_input(node, i));
    return onnx_output(node, 0, y);
}

bool convert_mean(struct onnx_node *node)
{
    struct value *y = onnx_input(node, 0), *n;

    if (!onnx_check_inputs(node, node->n_inputs > 1 ? node->n_inputs : 1, -1) ||
        !check_operands(node, OP_COUNT - 1))
        return false;
    if (node->n_inputs == 1)
        return onnx_output(node, 0, y);
    for (int i = 1; i < node->n_inputs; i++)
        y = apply2(node, OP_ADD, "sum", y, onnx_input(node, i));
    n = scalar_like(node, y, node->n_inputs, "n");
    return onnx_output(node, 0, apply2(node, OP_DIVIDE, "", y, n));
}

/* --- Clip -------------------------------------------------------------------------------------
 * A bound is a number of opset 6's attributes, or an input that may be absent. */
struct bound {
    bool given;
    bool constant;
    double number;
    struct value *value; /* the input */
};

static bool read_bound(struct onnx_node *node, int input, const char *attr, double missing,
                       struct bound *bound)
{
    struct tensor tensor;

    *bound = (struct bound){ .constant = true, .number = missing };
    if (node->opset < 11) {
        bound->given = onnx_has(node, attr);
        bound->number = onnx_real(node, attr, missing);
        return onnx_ok(node);
    }
    bound->value = onnx_input(node, input);
    bound->given = bound->value != NULL;
    if (!bound->given)
        return true;
    if (type_elements(&bound->value->type) != 1)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "the bound %s has shape %s, wanted "
                          "a scalar",
                          attr, shape_text(&node->ctx->perm, &bound->value->type));
    bound->constant =
        interpret_constant(node->ctx, bound->value, 1, &node->fn->module->bulk, &tensor);
    if (bound->constant)
        bound->number = tensor_at(&tensor, 0);
    return true;
}

static struct value *clip_side(struct onnx_node *node, enum op op, struct value *x,
                               struct bound *bound, const char *suffix)
{
    const struct ints scalar = { .n = 0 };

    return apply2(node, op, suffix, x, reshape_to(node, bound->value, &scalar, "bound"));
}

/* Bounds that are numbers of floating-point tensors make one `clip`; otherwise (run-time bounds;
 * integers, which a double does not hold exactly) maximum and minimum do it. */
bool convert_clip(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .clip = { .a_min = 0 } };
    struct bound low, high;

    if (!onnx_check_inputs(node, 1, node->opset < 11 ? 1 : 3) ||
        !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !read_bound(node, 1, "min", -(double)INFINITY, &low) ||
        !read_bound(node, 2, "max", (double)INFINITY, &high))
        return false;
    if (!low.given && !high.given)
        return onnx_output(node, 0, x);
    if (dtype_is_float(x->type.dtype) && low.constant && high.constant) {
        attrs.clip.a_min = low.number;
        attrs.clip.a_max = high.number;
        return onnx_output(node, 0, onnx_build1(node, OP_CLIP, &attrs, "", x));
    }
    if (node->opset < 11)
        return onnx_unsupported(node, "integers are clipped from opset 12 on");
    if (low.given)
        x = clip_side(node, OP_MAXIMUM, x, &low, high.given ? "low" : "");
    if (high.given)
        x = clip_side(node, OP_MINIMUM, x, &high, "");
    return onnx_output(node, 0, x);
}

/* --- Cast ------------------------------------------------------------------------------------- */
static bool has_fraction(enum dtype dtype)
{
    return dtype_is_float(dtype) || dtype_kind(dtype) == KIND_MINIFLOAT ||
           dtype_kind(dtype) == KIND_EXPONENT;
}

/* What ONNX leaves open, as the data of operator sets from 24 on have it (before, such numbers saturate): to 2 and 4
 * bits, integers wrap, as in ONNX Runtime; NaN is -0 as f4e2m1. */
static struct value *before_cast(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    struct value *inputs[3] = { NULL, NULL, x };

    if (node->opset < 24 || !has_fraction(x->type.dtype))
        return x;
    if (dtype_kind(dtype) == KIND_NIBBLE)
        return cast_to(node, x, DTYPE_I32, "whole");
    if (dtype != DTYPE_F4E2M1 || !dtype_is_float(x->type.dtype))
        return x;
    inputs[0] = apply1(node, OP_ISNAN, "is_nan", x);
    inputs[1] = scalar_like(node, x, -0.0, "nan");
    return inputs[0] && inputs[1] ? onnx_build(node, OP_WHERE, NULL, "numbers", 3, inputs) : NULL;
}

/* To f8e8m0, by way of f32, and from it. */
static bool output_exponents(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    if (dtype == DTYPE_F8E8M0)
        return onnx_output(node, 0, e8m0_from_f32(node, cast_to(node, x, DTYPE_F32, "x"), ""));
    x = e8m0_to_f32(node, x, dtype == DTYPE_F32 ? "" : "numbers");
    return onnx_output(node, 0, cast_to(node, x, dtype, ""));
}

/* Attribute saturate, which came with the FP8 types in opset 19 and concerns only them. */
static bool output_cast(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    const bool is_fp8 = dtype_kind(dtype) == KIND_MINIFLOAT;
    const int64_t saturate = is_fp8 ? onnx_int(node, "saturate", 1) : 1;
    const union attrs attrs = { .cast = { .dtype = dtype, .saturate = saturate != 0 } };

    if (!onnx_ok(node))
        return false;
    if (x->type.dtype == dtype)
        return onnx_output(node, 0, x);
    if (dtype == DTYPE_F8E8M0 || x->type.dtype == DTYPE_F8E8M0)
        return output_exponents(node, x, dtype);
    x = before_cast(node, x, dtype);
    if (!x || x->type.dtype == dtype)
        return onnx_output(node, 0, x);
    return onnx_output(node, 0, onnx_build1(node, OP_CAST, &attrs, "", x));
}

/* The attribute `to` of a node with one input. */
static bool type_to(struct onnx_node *node, enum dtype *dtype)
{
    const int64_t to = onnx_int(node, "to", 0);

    if (!onnx_check_inputs(node, 1, 1) || !onnx_ok(node))
        return false;
    *dtype = to > 0 && to <= INT32_MAX ? dtype_from_onnx((int32_t)to) : DTYPE_NONE;
    if (*dtype == DTYPE_NONE)
        return diag_error(node->ctx, DIAG_UNSUPPORTED_TYPE, node->origin,
                          "a conversion to this element type is not supported");
    return true;
}

bool convert_cast(struct onnx_node *node)
{
    enum dtype dtype;

    if (!type_to(node, &dtype))
        return false;
    return output_cast(node, onnx_input(node, 0), dtype);
}

/* Integers of one size, and booleans, are as cast; elements of fewer than 8 bits have a byte each here, whose upper bits
 * follow the sign: they go by way of unsigned ones. */
bool convert_bit_cast(struct onnx_node *node)
{
    union attrs attrs = { .reinterpret = { 0 } };
    struct value *x;
    enum dtype dtype;

    if (!type_to(node, &dtype))
        return false;
    x = onnx_input(node, 0);
    if (dtype_packed_bits(x->type.dtype) != dtype_packed_bits(dtype))
        return bad_attribute(node, "the bits of %s are not those of %s", dtype_name(x->type.dtype),
                             dtype_name(dtype));
    if (!has_fraction(x->type.dtype) && !has_fraction(dtype))
        return output_cast(node, x, dtype);
    if (x->type.dtype == DTYPE_I4)
        x = cast_to(node, x, DTYPE_U4, "bits");
    attrs.reinterpret.from = x->type.dtype;
    attrs.reinterpret.dtype = dtype == DTYPE_I4 ? DTYPE_U4 : dtype == DTYPE_BOOL ? DTYPE_U8 : dtype;
    x = x ? onnx_build1(node, OP_REINTERPRET, &attrs,
                        attrs.reinterpret.dtype == dtype ? "" : "bits", x)
          : NULL;
    return x && onnx_output(node, 0, cast_to(node, x, dtype, ""));
}

bool convert_cast_like(struct onnx_node *node)
{
    return onnx_check_inputs(node, 2, 2) &&
           output_cast(node, onnx_input(node, 0), onnx_input(node, 1)->type.dtype);
}

bool convert_where(struct onnx_node *node)
{
    struct value *const inputs[] = { onnx_input(node, 0), onnx_input(node, 1),
                                     onnx_input(node, 2) };

    return onnx_check_inputs(node, 3, 3) && onnx_check_kind(node, 0, TAKES_BOOL) &&
           onnx_output(node, 0, onnx_build(node, OP_WHERE, NULL, "", 3, inputs));
}

/* Inference: x itself, and a mask of ones where somebody reads it. */
bool convert_dropout(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    double training = 0;
    struct ints shape;

    if (!onnx_check_inputs(node, 1, node->opset < 12 ? 1 : 3))
        return false;
    if (node->opset >= 12 && onnx_input(node, 2) && !onnx_constant_real(node, 2, &training))
        return false;
    if (training != 0) {
        onnx_unsupported(node, "training_mode is for training");
        diag_help(node->ctx, "export the model for inference");
        return false;
    }
    if (wants_output(node, 1)) {
        shape = ints_of_shape(&x->type);
        if (!onnx_output(
                node, 1,
                full_of(node, node->opset < 10 ? x->type.dtype : DTYPE_BOOL, 1, &shape, "mask")))
            return false;
    }
    return onnx_output(node, 0, x);
}
