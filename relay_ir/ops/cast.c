/* cast.c - conversion between element types.
 *
 * From blocks: of the numbers, to floats only. To AFP there is no cast, as the attribute does not
 * say which one: qnn.quantize has it from the zero point.
 *
 * float -> integer truncates towards zero; out of range saturates and NaN becomes 0 (C and ONNX
 * leave both open). integer -> integer wraps. anything -> bool is != 0, so NaN is true. To a float,
 * FP8 included: rounded once, to nearest, ties to even; FP8 out of range: attribute saturate. */
#include <math.h>
#include <string.h>

#include "base/minifloat.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

bool infer_cast(struct ctx *ctx, struct node *node)
{
    const enum dtype to = node->attrs.cast.dtype;

    if (!check_kinds(ctx, node, 0, KINDS_ANY))
        return false;
    if (!(1u << dtype_kind(to) & KINDS_ANY))
        return diag_error(ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node),
                          "%s to %s is not supported", op_name(node->op), dtype_name(to));
    if (to == DTYPE_AFP && input_type(node, 0)->dtype != DTYPE_AFP) {
        diag_error(ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node), "%s to afp needs the codec",
                   op_name(node->op));
        diag_help(ctx, "qnn.quantize takes it from the zero point");
        return false;
    }
    if (type_has_blocks(input_type(node, 0)) && !dtype_is_float(to))
        return diag_error(
            ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node),
            "%s of block-scaled values to %s is not supported, expected a floating-point type",
            op_name(node->op), dtype_name(to));
    set_output(node, 0, to, input_type(node, 0));
    return true;
}

bool infer_reinterpret(struct ctx *ctx, struct node *node)
{
    const struct reinterpret_attrs *attrs = &node->attrs.reinterpret;
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0, KINDS_STORED))
        return false;
    if (x->dtype != attrs->from || x->quant ||
        dtype_packed_bits(x->dtype) != dtype_packed_bits(attrs->dtype) ||
        attrs->dtype == DTYPE_AFP || attrs->dtype == DTYPE_BOOL)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "%s of %s as %s, expected %s and as many bits", op_name(node->op),
                          type_text(&ctx->perm, x), dtype_name(attrs->dtype),
                          dtype_name(attrs->from));
    set_output(node, 0, attrs->dtype, x);
    return true;
}

bool eval_reinterpret(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    (void)ctx, (void)node;
    if (type_elements(&out->type) > 0)
        memcpy(out->data, in[0]->data, type_bytes(&out->type));
    return true;
}

/* An integer as a double that rounds to any narrower format as the integer itself would: what does
 * not fit into 53 bits is left in the last one as "a bit more" (rounding to odd). */
static double sticky(wide value)
{
    const uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    uint64_t kept = magnitude;

    if (magnitude >> 53)
        kept = (magnitude & ~(uint64_t)2047) | (magnitude & 2047 ? 2048 : 0);
    return value < 0 ? -(double)kept : (double)kept;
}

static bool is_real(const struct type *type)
{
    return dtype_is_float(type->dtype) || dtype_kind(type->dtype) == KIND_MINIFLOAT ||
           type_has_blocks(type);
}

static void cast_element(const struct tensor *from, struct tensor *to, int64_t i)
{
    const bool from_float = is_real(&from->type);
    const bool to_float = dtype_is_float(to->type.dtype);

    if (from_float && to_float)
        tensor_put(to, i, tensor_at(from, i));
    else if (from_float && dtype_kind(to->type.dtype) == KIND_BOOL)
        tensor_put_wide(to, i, tensor_at(from, i) != 0);
    else if (from_float)
        tensor_put(to, i, trunc(tensor_at(from, i)));
    else if (to->type.dtype == DTYPE_F64)
        tensor_put(to, i, (double)tensor_wide_at(from, i));
    else if (to_float)
        tensor_put(to, i, sticky(tensor_wide_at(from, i)));
    else
        tensor_put_wide(to, i, tensor_wide_at(from, i));
}

static void cast_to_minifloat(const struct tensor *from, struct tensor *to, bool saturate)
{
    const struct minifloat *format = type_minifloat(&to->type);
    const bool from_float = is_real(&from->type);
    const int64_t n = type_elements(&to->type);
    uint8_t *quantized = to->data;

    if (from->type.dtype == DTYPE_F32) {
        minifloat_encode_array(format, from->data, quantized, (size_t)n, saturate);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double number = from_float ? tensor_at(from, i) : sticky(tensor_wide_at(from, i));

        quantized[i] = (uint8_t)minifloat_encode(format, number, saturate);
    }
}

bool eval_cast(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const int64_t n = type_elements(&out->type);

    (void)ctx;
    if (type_minifloat(&out->type)) {
        cast_to_minifloat(in[0], out, node->attrs.cast.saturate);
        return true;
    }
    if (type_minifloat(&in[0]->type) && !type_has_blocks(&in[0]->type) &&
        out->type.dtype == DTYPE_F32) {
        minifloat_decode_array(type_minifloat(&in[0]->type), in[0]->data, out->data, (size_t)n);
        return true;
    }
    for (int64_t i = 0; i < n; i++)
        cast_element(in[0], out, i);
    return true;
}
