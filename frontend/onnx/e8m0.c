/* e8m0.c - see e8m0.h. Code n is 2^(n - 127), the exponent field of an f32, but for n = 0: 2^-127 is a subnormal f32.
 *
 * Where the standard leaves a result open (negative numbers, one rounding with the other's saturation), it is ONNX
 * Runtime's: what is not in 2^-127 .. 2^127 before rounding is out of range, zero and negative numbers too. */
#include "frontend/onnx/e8m0.h"

#include <string.h>

#include "frontend/onnx/convert_helpers.h"

enum {
    MANTISSA_BITS = 23,
    ONE = 1 << MANTISSA_BITS, /* of the exponent field, in the bits of an f32 */
    LEAST = ONE / 2,          /* 2^-127 */
    GREATEST = 254 * ONE,     /* 2^127 */
    CODE_NAN = 255,
    BITS_NAN = CODE_NAN * ONE + ONE / 2
};

static struct value *reinterpreted(struct onnx_node *node, struct value *x, enum dtype dtype,
                                   const char *suffix)
{
    union attrs attrs = { .reinterpret = { .dtype = dtype } };

    if (!x)
        return NULL;
    attrs.reinterpret.from = x->type.dtype;
    return onnx_build1(node, OP_REINTERPRET, &attrs, suffix, x);
}

static struct value *chosen(struct onnx_node *node, struct value *condition, double yes,
                            struct value *no, const char *suffix)
{
    struct value *const inputs[] = { condition, scalar_like(node, no, yes, "nan"), no };

    return condition && inputs[1] ? onnx_build(node, OP_WHERE, NULL, suffix, 3, inputs) : NULL;
}

/* Round modes, as what is added to the bits before the mantissa is cut off. */
static bool read_mode(struct onnx_node *node, int *added)
{
    static const struct {
        const char *name;
        int added;
    } modes[] = { { "up", ONE - 1 }, { "down", 0 }, { "nearest", ONE / 2 } };
    const char *mode = onnx_word(node, "round_mode", "up");

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0) {
            *added = modes[i].added;
            return onnx_ok(node);
        }
    return onnx_ok(node) &&
           bad_attribute(node, "attribute round_mode is '%s', wanted up, down or nearest",
                         str_safe(&node->ctx->perm, mode, 40));
}

struct value *e8m0_from_f32(struct onnx_node *node, struct value *x, const char *suffix)
{
    const union attrs range = { .clip = { .a_min = LEAST, .a_max = GREATEST } };
    const bool saturate = onnx_int(node, "saturate", 1) != 0;
    struct value *bits = reinterpreted(node, x, DTYPE_I32, "bits");
    struct value *inside, *code, *bad;
    int added = 0;

    if (!bits || !read_mode(node, &added))
        return NULL;
    inside = onnx_build1(node, OP_CLIP, &range, "inside", bits);
    if (!inside)
        return NULL;
    bad = saturate ? apply1(node, OP_ISNAN, "bad", x)
                   : apply2(node, OP_NOT_EQUAL, "bad", bits, inside);
    /* Subnormals from 2^-127 up become the binade of exponent 0: m - max(ONE - m, 0). */
    code = apply2(node, OP_SUBTRACT, "below", scalar_like(node, inside, ONE, "one"), inside);
    code = apply2(node, OP_MAXIMUM, "step", code, scalar_like(node, inside, 0, "zero"));
    code = apply2(node, OP_SUBTRACT, "scaled", inside, code);
    if (added)
        code = apply2(node, OP_ADD, "rounded", code, scalar_like(node, inside, added, "added"));
    code = cast_to(node, code, DTYPE_U32, "whole");
    code = apply2(node, OP_RIGHT_SHIFT, "exponent", code,
                  scalar_like(node, code, MANTISSA_BITS, "shift"));
    code = chosen(node, bad, CODE_NAN, code, "code");
    return reinterpreted(node, cast_to(node, code, DTYPE_U8, "byte"), DTYPE_F8E8M0, suffix);
}

static struct value *constant_to_f32(struct onnx_node *node, const struct value *x,
                                     const char *suffix)
{
    const struct tensor quantized = value_tensor(x);
    struct type type = x->type;
    struct tensor out;

    type.dtype = DTYPE_F32;
    if (!onnx_granted(node, DTYPE_F32, (double)type_elements(&type)))
        return NULL;
    out = tensor_new(&node->fn->module->bulk, &type);
    for (int64_t i = 0; i < type_elements(&type); i++)
        ((float *)out.data)[i] = (float)tensor_at(&quantized, i);
    return onnx_from_tensor(node, &out, suffix);
}

struct value *e8m0_to_f32(struct onnx_node *node, struct value *x, const char *suffix)
{
    struct value *code, *bits;

    if (!x || x->kind == VALUE_CONSTANT)
        return x ? constant_to_f32(node, x, suffix) : NULL;
    code = cast_to(node, reinterpreted(node, x, DTYPE_U8, "byte"), DTYPE_U32, "code");
    bits = apply2(node, OP_LEFT_SHIFT, "normal", code,
                  scalar_like(node, code, MANTISSA_BITS, "shift"));
    bits = apply2(node, OP_MAXIMUM, "numbers", bits, scalar_like(node, bits, LEAST, "least"));
    bits =
        chosen(node, apply2(node, OP_EQUAL, "bad", code, scalar_like(node, code, CODE_NAN, "last")),
               BITS_NAN, bits, "bits");
    return reinterpreted(node, bits, DTYPE_F32, suffix);
}
