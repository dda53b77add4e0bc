/* qnn_check.c - what type inference asks of scales and zero points; see qnn.h. */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/qnn.h"

bool is_quantized(enum dtype dtype)
{
    return dtype_is_integer(dtype) && dtype_bytes(dtype) <= 2;
}

int qnn_vector_axis(const struct node *node, int input)
{
    if (input < 1 || !node->inputs[input] || node->inputs[input]->type.rank != 1)
        return -1;
    switch (node->op) {
    case OP_QNN_DEQUANTIZE: return (int)node->attrs.axis.axis;
    case OP_QNN_QUANTIZE: return (int)node->attrs.quantize.axis;
    case OP_QNN_REQUANTIZE: return (int)node->attrs.requantize.axis;
    default: return -1;
    }
}

bool qnn_check_vector(struct ctx *ctx, const struct node *node, int input, int64_t n)
{
    const struct type *type = input_type(node, input);
    const bool one = type->rank == 0 || (type->rank == 1 && type->dim[0] == 1);

    if (one || (type->rank == 1 && type->dim[0] == n))
        return true;
    return diag_error(
        ctx, DIAG_SHAPE, node_origin(node), "input %d of %s has shape %s, wanted is one number%s",
        input, op_name(node->op), shape_text(&ctx->perm, type),
        n == 1 ? "" : arena_printf(&ctx->perm, ", or %lld along the axis", (long long)n));
}

bool qnn_check_scale(struct ctx *ctx, const struct node *node, int input, int64_t n)
{
    const struct value *value = node->inputs[input];
    const float *scale = value->data;

    if (!qnn_check_vector(ctx, node, input, n))
        return false;
    if (value->type.dtype != DTYPE_F32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input %d of %s is %s, wanted is a scale of f32", input,
                          op_name(node->op), dtype_name(value->type.dtype));
    if (value->kind != VALUE_CONSTANT)
        return true;
    for (int64_t i = 0; i < type_elements(&value->type); i++)
        if (!(scale[i] > 0) || isinf(scale[i]))
            return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                              "input %d of %s is a scale of %g, wanted is a positive number", input,
                              op_name(node->op), (double)scale[i]);
    return true;
}

bool qnn_check_zero(struct ctx *ctx, const struct node *node, int input, enum dtype dtype,
                    int64_t n)
{
    const enum dtype found = input_type(node, input)->dtype;

    if (!qnn_check_vector(ctx, node, input, n))
        return false;
    if (found == dtype)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "input %d of %s is a zero point of %s, wanted is %s", input,
                      op_name(node->op), dtype_name(found), dtype_name(dtype));
}

bool qnn_check_quantized(struct ctx *ctx, const struct node *node, int input)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (is_quantized(dtype))
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "input %d of %s is %s, wanted is i8, u8, i16 or u16", input,
                      op_name(node->op), dtype_name(dtype));
}
