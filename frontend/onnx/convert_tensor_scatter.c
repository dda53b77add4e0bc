/* convert_tensor_scatter.c - TensorScatter: a cache of keys or values with new ones written into it. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* The place along the axis of each element of the update: where its batch begins, and how far behind
 * that it lies. */
static struct value *places(struct onnx_node *node, int axis, bool circular)
{
    const struct type *past = &onnx_input(node, 0)->type, *update = &onnx_input(node, 1)->type;
    const union attrs whole = { .shape = { .shape = ints_of_shape(update) } };
    struct ints shape = ints_fill(update->rank, 1);
    int64_t *steps = arena_array(&node->ctx->scratch, int64_t, update->dim[axis]);
    struct value *y, *first = onnx_input(node, 2);

    for (int64_t i = 0; i < update->dim[axis]; i++)
        steps[i] = i;
    shape.at[axis] = update->dim[axis];
    y = reshape_to(node, onnx_from_ints(node, steps, update->dim[axis], "steps"), &shape, "steps");
    if (first) {
        shape = ints_fill(update->rank, 1);
        shape.at[0] = update->dim[0];
        y = apply2(node, OP_ADD, "places", y,
                   reshape_to(node, cast_to(node, first, DTYPE_I64, "first"), &shape, "first"));
    }
    if (circular)
        y = apply2(node, OP_FLOOR_MOD, "around", y,
                   onnx_scalar(node, DTYPE_I64, (double)past->dim[axis], "length"));
    return y ? onnx_build1(node, OP_BROADCAST_TO, &whole, "index", y) : NULL;
}

/* past_cache, update, write_indices */
bool convert_tensor_scatter(struct onnx_node *node)
{
    const char *mode = onnx_word(node, "mode", "linear");
    struct value *past = onnx_input(node, 0), *update = onnx_input(node, 1), *inputs[3];
    union attrs attrs = { .scatter = { .reduction = "none" } };
    bool fits;
    int axis;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_rank(node, 2, 1, 1) ||
        !onnx_check_kind(node, 2, TAKES_INTEGER))
        return false;
    axis = normal_axis_attr(node, -2, past->type.rank);
    if (axis < 0 || !onnx_ok(node))
        return false;
    fits = axis > 0 && update->type.rank == past->type.rank;
    for (int i = 0; fits && i < past->type.rank; i++)
        fits = i == axis ? update->type.dim[i] <= past->type.dim[i]
                         : update->type.dim[i] == past->type.dim[i];
    if (!fits || (onnx_input(node, 2) && onnx_input(node, 2)->type.dim[0] != past->type.dim[0]))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "an update of shape %s along axis %d of a cache of shape %s",
                          shape_text(&node->ctx->perm, &update->type), axis,
                          shape_text(&node->ctx->perm, &past->type));
    if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
        return bad_attribute(node, "attribute mode is neither linear nor circular");
    attrs.scatter.axis = axis;
    inputs[0] = past;
    inputs[1] = places(node, axis, strcmp(mode, "circular") == 0);
    inputs[2] = update;
    return inputs[1] &&
           onnx_output(node, 0, onnx_build(node, OP_SCATTER_ELEMENTS, &attrs, "", 3, inputs));
}
