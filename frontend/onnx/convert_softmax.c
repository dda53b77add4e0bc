/* convert_softmax.c - Softmax, LogSoftmax and Hardmax. */
#include "frontend/onnx/convert_helpers.h"

/* Before opset 13 the operator works on rows of a matrix: the dims before the axis by those from
 * the axis on. */
static bool softmax_of_matrix(struct onnx_node *node, int axis)
{
    const union attrs attrs = { .axis = { .axis = 1 } };
    struct value *x = onnx_input(node, 0), *y;
    struct ints shape = ints_of_shape(&x->type);
    struct ints matrix = {
        .n = 2, .at = { type_span(&x->type, 0, axis), type_span(&x->type, axis, x->type.rank) }
    };

    x = reshape_to(node, x, &matrix, "matrix");
    y = x ? onnx_build1(node, (enum op)node->arg, &attrs, "rows", x) : NULL;
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

bool convert_softmax(struct onnx_node *node)
{
    struct value *x = onnx_input(node, 0);
    union attrs attrs = { .axis = { 0 } };
    int axis;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    axis = normal_axis_attr(node, node->opset < 13 ? 1 : -1, x->type.rank);
    if (axis < 0)
        return false;
    if (node->opset < 13 && type_span(&x->type, axis + 1, x->type.rank) != 1)
        return softmax_of_matrix(node, axis);
    attrs.axis.axis = axis;
    return onnx_output(node, 0, onnx_build1(node, (enum op)node->arg, &attrs, "", x));
}
