/* qnn_check.c - what type inference asks of scales and zero points; see qnn.h.
 *
 * A scale may be any number: it may be computed, and known only after folding. What is not positive
 * has a result as well (fixed_point_of, and division as in IEEE 754). */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"

bool is_quantized(enum dtype dtype)
{
    return dtype_is_integer(dtype) && dtype_bytes(dtype) <= 2;
}

enum dtype qnn_wider(enum dtype a, enum dtype b)
{
    return dtype_bytes(a) > dtype_bytes(b) ? a : b;
}

void qnn_put_saturated(struct tensor *out, int64_t i, int64_t number)
{
    const wide least = dtype_least(out->type.dtype), greatest = dtype_greatest(out->type.dtype);

    tensor_put_wide(out, i, number < least ? least : number > greatest ? greatest : number);
}

int qnn_vector_axis(const struct node *node, int input)
{
    if (input < 1 || !node->inputs[input])
        return -1;
    if (node->op == OP_QNN_LUT && input == 1)
        return (int)node->attrs.axis.axis;
    if (node->inputs[input]->type.rank != 1)
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
        ctx, DIAG_SHAPE, node_origin(node), "input %d of %s has shape %s, expected one number%s",
        input, op_name(node->op), shape_text(&ctx->perm, type),
        n == 1 ? "" : arena_printf(&ctx->perm, ", or %lld along the axis", (long long)n));
}

bool qnn_check_scale(struct ctx *ctx, const struct node *node, int input, int64_t n)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (!qnn_check_vector(ctx, node, input, n))
        return false;
    if (dtype == DTYPE_F32)
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "input %d of %s is %s, expected a scale of f32", input, op_name(node->op),
                      dtype_name(dtype));
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
                      "input %d of %s is a zero point of %s, expected %s", input, op_name(node->op),
                      dtype_name(found), dtype_name(dtype));
}

bool qnn_check_quantized(struct ctx *ctx, const struct node *node, int input)
{
    const enum dtype dtype = input_type(node, input)->dtype;

    if (is_quantized(dtype))
        return true;
    return diag_error(ctx, DIAG_TYPE, node_origin(node),
                      "input %d of %s is %s, expected i8, u8, i16 or u16", input, op_name(node->op),
                      dtype_name(dtype));
}

bool qnn_check_powers(struct ctx *ctx, const struct node *node, int input)
{
    const struct type *table = input_type(node, input);

    if (table->dtype == DTYPE_I32 && table->rank == 1 && table->dim[0] == QNN_VALUES)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "input %d of %s is %s, expected (256) i32", input, op_name(node->op),
                      type_text(&ctx->perm, table));
}

bool qnn_check_line(struct ctx *ctx, const struct node *node, const struct type *x)
{
    const int64_t n = x->dim[node->attrs.axis.axis];

    return n < 4096 || diag_error(ctx, DIAG_TOO_BIG, node_origin(node),
                                  "%s over %lld elements, expected less than 4096",
                                  op_name(node->op), (long long)n);
}
