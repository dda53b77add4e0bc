/* open_gather.c - open axes of Gather and GatherND, and of operators that choose elements. */
#include <string.h>

#include "frontend/onnx/open.h"

static struct open_axes input_axes(struct onnx_node *node, int i)
{
    return open_of(node->import, onnx_input(node, i));
}

static struct open_length *any_of(const struct open_axes *axes)
{
    for (int d = 0; d < MAX_RANK; d++)
        if (axes->at[d])
            return axes->at[d];
    return NULL;
}

/* What is behind the last index is 0, which is there whatever is taken. */
static bool mask_indices(struct onnx_node *node, const struct open_axes *axes)
{
    for (int d = 0; d < MAX_RANK && node->inputs[1]; d++)
        if (axes->at[d])
            node->inputs[1] = open_mask(node, node->inputs[1], d, axes->at[d], 0);
    return node->inputs[1] != NULL;
}

/* Negative indices count from the last element that is there; constant ones (`all` of them are there) must be there. */
static bool count_from_end(struct onnx_node *node, const struct open_length *length, bool all)
{
    struct value *indices = cast_to(node, node->inputs[1], DTYPE_I64, "long"), *inputs[3], *zero;
    struct tensor known;
    int64_t most = -1;

    if (!indices)
        return false;
    if (all && import_known(node->import, node->inputs[1], &known))
        for (int64_t i = 0; i < type_elements(&known.type); i++) {
            const int64_t at = tensor_int_at(&known, i), least = at < 0 ? -1 - at : at;

            most = least > most ? least : most;
        }
    zero = scalar_like(node, indices, 0, "zero");
    inputs[0] = apply2(node, OP_LESS, "is_from_end", indices, zero);
    inputs[1] = apply2(node, OP_ADD, "from_end", indices,
                       reshape_to(node, length->count, &(const struct ints){ 0 }, "length"));
    inputs[2] = indices;
    if (!inputs[0] || !inputs[1])
        return false;
    indices = onnx_build(node, OP_WHERE, NULL, "places", 3, inputs);
    if (most >= 0 && indices)
        indices =
            open_expect(node, indices,
                        apply2(node, OP_GREATER, "is_there", length->count, open_int(node, most)));
    node->inputs[1] = indices;
    return indices != NULL;
}

bool open_gather(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes x = input_axes(node, 0), indices = input_axes(node, 1);
    const int rank = onnx_input(node, 0)->type.rank, axis = normal_axis_attr(node, 0, rank);
    const int more = onnx_input(node, 1) ? node->inputs[1]->type.rank : 0;

    if (axis < 0 || !onnx_check_inputs(node, 2, 2) || rank - 1 + more > MAX_RANK)
        return false;
    for (int d = 0; d < rank; d++)
        if (d != axis)
            use->out.at[d < axis ? d : d - 1 + more] = x.at[d];
    for (int d = 0; d < more; d++)
        use->out.at[axis + d] = indices.at[d];
    return (!x.at[axis] || count_from_end(node, x.at[axis], !any_of(&indices))) &&
           mask_indices(node, &indices);
}

/* Tuples are along the last axis of the indices. */
bool open_gather_nd(struct onnx_node *node, struct open_use *use)
{
    const struct open_axes x = input_axes(node, 0), indices = input_axes(node, 1);
    const int rank = onnx_input(node, 0)->type.rank;
    const int more = onnx_input(node, 1) ? node->inputs[1]->type.rank - 1 : 0;
    const int n = more < 0 || !onnx_input(node, 1) ? 0 : (int)node->inputs[1]->type.dim[more];

    if (!onnx_check_inputs(node, 2, 2) || onnx_int(node, "batch_dims", 0) != 0 || more < 0 ||
        indices.at[more] || rank - n + more > MAX_RANK)
        return open_refuse(node, any_of(any_of(&x) ? &x : &indices));
    for (int d = 0; d < rank; d++)
        if (d < n && x.at[d])
            return open_refuse(node, x.at[d]);
        else if (d >= n)
            use->out.at[more + d - n] = x.at[d];
    for (int d = 0; d < more; d++)
        use->out.at[d] = indices.at[d];
    return mask_indices(node, &indices);
}

/* --- what is true ----------------------------------------------------------------------------- */

/* Elements that are not there are 0, or not chosen. */
bool open_selected(struct onnx_node *node, struct open_use *use)
{
    const bool chooses = strcmp(node->op_type, "Compress") == 0;
    const struct open_axes x = input_axes(node, 0), condition = input_axes(node, 1);
    const int rank = onnx_input(node, 0)->type.rank;
    const int axis = onnx_has(node, "axis") ? normal_axis_attr(node, 0, rank) : 0;
    struct open_axes out;

    if (axis < 0 || (chooses && !onnx_check_inputs(node, 2, 2)) ||
        (chooses && !onnx_has(node, "axis") && rank > 1 && any_of(&x)))
        return onnx_ok(node) && open_refuse(node, any_of(&x));
    for (int d = 0; d < rank && !chooses; d++)
        if (x.at[d])
            node->inputs[0] = open_mask(node, node->inputs[0], d, x.at[d], 0);
    if (chooses && condition.at[0])
        node->inputs[1] = open_mask(node, node->inputs[1], 0, condition.at[0], 0);
    if (chooses && x.at[axis] && node->inputs[1])
        node->inputs[1] = open_mask(node, node->inputs[1], 0, x.at[axis], 0);
    use->done = true;
    if (!node->inputs[0] || (chooses && !node->inputs[1]) || !use->convert(node))
        return false;
    out = open_of(node->import, node->outputs[0]);
    for (int d = 0; d < rank && chooses; d++)
        if (d != axis)
            out.at[d] = x.at[d];
    open_set(node->import, node->outputs[0], &out);
    return true;
}
