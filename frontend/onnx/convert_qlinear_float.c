/* convert_qlinear_float.c - the operators of com.microsoft on quantised tensors that are no
 * products.
 *
 * QLinearAdd and QLinearMul have operators of their own. The others are the float operator between
 * qnn.dequantize and qnn.quantize, which is what ONNX Runtime's results are defined by. */
#include "frontend/onnx/convert_product.h"
#include "frontend/onnx/convert_qnn.h"

/* a, a_scale, a_zero, b, b_scale, b_zero, out_scale, out_zero in ONNX Runtime; Relay has the
 * operands first. Zero points may be absent. */
bool convert_qlinear_binary(struct onnx_node *node)
{
    struct value *a = onnx_input(node, 0), *inputs[8];
    struct tensor known;

    if (!onnx_check_inputs(node, 2, 8))
        return false;
    if (!onnx_input(node, 3))
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input 3 is missing");
    inputs[0] = a;
    inputs[1] = onnx_input(node, 3);
    for (int i = 0; i < 3; i++) {
        inputs[2 + 2 * i] = scale_input(node, 1 + 3 * i - (i == 2));
        inputs[3 + 2 * i] = zero_point(node, 2 + 3 * i - (i == 2), a->type.dtype);
    }
    for (int i = 0; i < 3; i++) /* the scales: 1, 4, 6 */
        if (!onnx_constant(node, 1 + 3 * i - (i == 2), &known))
            return false;
    return onnx_output(node, 0, onnx_build(node, (enum op)node->arg, NULL, "", 8, inputs));
}

/* The result of the float operator on these operands. */
static struct value *float_result(struct onnx_node *node, onnx_converter *converter, int arg,
                                  int64_t opset, int n_inputs, struct value **inputs)
{
    for (int i = 0; i < n_inputs; i++)
        if (!inputs[i])
            return NULL;
    return onnx_inner(node, converter, arg, opset, n_inputs, inputs, "float");
}

/* x, x_scale, x_zero, y_scale, y_zero. With channels_last, an attribute of pools, the float operator
 * stands between transposes. */
static bool between(struct onnx_node *node, onnx_converter *converter, int arg, int64_t opset)
{
    const bool last = onnx_int(node, "channels_last", 0) != 0;
    struct value *x, *y;

    if (!onnx_check_inputs(node, 2, 5) || !onnx_ok(node))
        return false;
    if (!onnx_input(node, 3))
        return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input 3 is missing");
    x = dequantized(node, last ? channels_first(node, onnx_input(node, 0)) : onnx_input(node, 0), 1,
                    2, "real");
    y = float_result(node, converter, arg, opset, 1, &x);
    if (last)
        y = channels_last(node, y, "float_last");
    return onnx_output(node, 0, quantized(node, y, 3, 4, onnx_input(node, 0)->type.dtype, ""));
}

bool convert_qlinear_unary(struct onnx_node *node)
{
    return between(node, node->arg == OP_LEAKY_RELU ? convert_activation : convert_unary, node->arg,
                   13);
}

bool convert_qlinear_average_pool(struct onnx_node *node)
{
    return between(node, convert_average_pool, 0, 13);
}

bool convert_qlinear_global_average_pool(struct onnx_node *node)
{
    return between(node, convert_global_pool, OP_GLOBAL_AVG_POOL, 13);
}

/* Attribute opset says which Softmax it is: what its axis means. */
bool convert_qlinear_softmax(struct onnx_node *node)
{
    return between(node, convert_softmax, OP_SOFTMAX, onnx_int(node, "opset", 13));
}

/* y_scale, y_zero, and for each operand: x, x_scale, x_zero. */
bool convert_qlinear_concat(struct onnx_node *node)
{
    const int n = node->n_inputs / 3; /* the last zero point may be absent */
    struct value **real, *y;

    if (!onnx_check_inputs(node, 4, -1))
        return false;
    real = arena_array(&node->ctx->perm, struct value *, n);
    for (int i = 0; i < n; i++) {
        if (!onnx_input(node, 2 + 3 * i) || !onnx_input(node, 3 + 3 * i))
            return diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin,
                              "input %d or %d is missing: operand %d and its scale", 2 + 3 * i,
                              3 + 3 * i, i);
        real[i] = dequantized(node, onnx_input(node, 2 + 3 * i), 3 + 3 * i, 4 + 3 * i, "real");
    }
    y = float_result(node, convert_concat, 0, 13, n, real);
    return onnx_output(node, 0, quantized(node, y, 0, 1, onnx_input(node, 2)->type.dtype, ""));
}

/* condition, x, x_scale, x_zero, y, y_scale, y_zero, scale and zero point of the result. */
bool convert_qlinear_where(struct onnx_node *node)
{
    struct value *inputs[3], *y;

    if (!onnx_check_inputs(node, 8, 9))
        return false;
    inputs[0] = onnx_input(node, 0);
    inputs[1] = dequantized(node, onnx_input(node, 1), 2, 3, "yes");
    inputs[2] = dequantized(node, onnx_input(node, 4), 5, 6, "no");
    y = float_result(node, convert_where, 0, 16, 3, inputs);
    return onnx_output(node, 0, quantized(node, y, 7, 8, onnx_input(node, 1)->type.dtype, ""));
}
