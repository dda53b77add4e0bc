/* gather.c - reading at computed places: take, gather, gather_nd; and one_hot.
 *
 * In ONNX: Gather, GatherElements, GatherND, OneHot. Negative indices count from the end; one that
 * is out of range is an error, except in one_hot, where it selects nothing, and in networks that
 * choose what they need at run time (guard.h), which may compute what they do not. */
#include "relay_ir/ops/gather.h"

#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

bool index_at(struct ctx *ctx, const struct node *node, const struct tensor *indices, int64_t at,
              int64_t extent, int64_t *index)
{
    const int64_t given = tensor_int_at(indices, at);

    if ((given < -extent || given >= extent) && extent > 0 && node->fn->module->chooses) {
        *index = given < 0 ? 0 : extent - 1; /* nobody may want it; generated C does the same */
        return true;
    }
    if (given < -extent || given >= extent)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: index %lld is out of range for an axis of extent %lld",
                          op_name(node->op), (long long)given, (long long)extent);
    *index = given < 0 ? given + extent : given;
    return true;
}

bool tuple_offset(struct ctx *ctx, const struct node *node, const struct tensor *indices,
                  int64_t tuple, const struct type *x, int first_axis, const int64_t *x_step,
                  int64_t *offset)
{
    const int64_t n = indices->type.dim[indices->type.rank - 1];

    *offset = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t index;

        if (!index_at(ctx, node, indices, tuple * n + i, x->dim[first_axis + i], &index))
            return false;
        *offset += index * x_step[first_axis + i];
    }
    return true;
}

bool infer_take(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *indices = input_type(node, 1);
    struct type shape = { .rank = x->rank - 1 + indices->rank };
    int64_t *axis = &node->attrs.axis.axis;
    int n = 0;

    if (!check_index_type(ctx, node, 1) || !check_axis(ctx, node, x, axis) ||
        !check_result_rank(ctx, node, shape.rank))
        return false;
    for (int i = 0; i < *axis; i++)
        shape.dim[n++] = x->dim[i];
    for (int i = 0; i < indices->rank; i++)
        shape.dim[n++] = indices->dim[i];
    for (int64_t i = *axis + 1; i < x->rank; i++)
        shape.dim[n++] = x->dim[i];
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    return true;
}

bool eval_take(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const int axis = (int)node->attrs.axis.axis;
    const int64_t outer = type_span(x, 0, axis), inner = type_span(x, axis + 1, x->rank);
    const int64_t n = type_elements(&in[1]->type), extent = x->dim[axis];
    const size_t bytes = dtype_bytes(x->dtype) * (size_t)inner;
    int64_t index;

    if (type_elements(&out->type) == 0)
        return true;
    for (int64_t i = 0; i < n; i++) {
        if (!index_at(ctx, node, in[1], i, extent, &index))
            return false;
        for (int64_t o = 0; o < outer; o++)
            memcpy(element_at(out, (o * n + i) * inner),
                   element_at(in[0], (o * extent + index) * inner), bytes);
    }
    return true;
}

bool infer_gather(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *indices = input_type(node, 1);
    int64_t *axis = &node->attrs.axis.axis;

    if (!check_index_type(ctx, node, 1) || !check_axis(ctx, node, x, axis) ||
        !check_rank(ctx, node, 1, x->rank, x->rank))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != *axis && indices->dim[i] > x->dim[i])
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: indices of shape %s do not fit into shape %s off axis %lld",
                              op_name(node->op), shape_text(&ctx->perm, indices),
                              shape_text(&ctx->perm, x), (long long)*axis);
    set_output(node, 0, x->dtype, indices);
    pass_scales(node, 0, 0, -1);
    return true;
}

bool eval_gather(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const int64_t axis = node->attrs.axis.axis, n = type_elements(&out->type);
    const size_t bytes = dtype_bytes(x->dtype);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);
    int64_t x_step[MAX_RANK], axis_step, index;

    shape_strides(x, x_step);
    axis_step = x_step[axis];
    x_step[axis] = 0; /* the index says where along this one */
    walk_add(&walk, x_step);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        if (!index_at(ctx, node, in[1], i, x->dim[axis], &index))
            return false;
        memcpy(element_at(out, i), element_at(in[0], walk.offset[0] + index * axis_step), bytes);
    }
    return true;
}

bool infer_gather_nd(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *indices = input_type(node, 1);
    const int64_t batch = node->attrs.gather_nd.batch_dims;
    struct type shape = { 0 };
    int64_t tuple;

    if (!check_index_type(ctx, node, 1) || !check_rank(ctx, node, 0, 1, MAX_RANK) ||
        !check_rank(ctx, node, 1, 1, MAX_RANK))
        return false;
    tuple = indices->dim[indices->rank - 1];
    if (batch < 0 || batch >= indices->rank || tuple > x->rank || batch + tuple > x->rank)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: index tuples of %lld in shape %s with %lld batch dimensions do not "
                          "fit shape %s",
                          op_name(node->op), (long long)tuple, shape_text(&ctx->perm, indices),
                          (long long)batch, shape_text(&ctx->perm, x));
    for (int i = 0; i < batch; i++)
        if (x->dim[i] != indices->dim[i])
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: batch dimension %d is %lld in x and %lld in the indices",
                              op_name(node->op), i, (long long)x->dim[i],
                              (long long)indices->dim[i]);
    if (!check_result_rank(ctx, node, indices->rank - 1 + x->rank - batch - tuple))
        return false;
    for (int i = 0; i < indices->rank - 1; i++)
        shape.dim[shape.rank++] = indices->dim[i];
    for (int64_t i = batch + tuple; i < x->rank; i++)
        shape.dim[shape.rank++] = x->dim[i];
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    return true;
}

bool eval_gather_nd(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const struct type *x = &in[0]->type, *indices = &in[1]->type;
    const int batch = (int)node->attrs.gather_nd.batch_dims, last = indices->rank - 1;
    const int64_t batches = type_span(indices, 0, batch),
                  per_batch = type_span(indices, batch, last);
    const int64_t inner = type_span(x, batch + (int)indices->dim[last], x->rank);
    const int64_t x_batch = type_span(x, batch, x->rank);
    const size_t bytes = dtype_bytes(x->dtype) * (size_t)inner;
    int64_t x_step[MAX_RANK], offset;

    if (type_elements(&out->type) == 0)
        return true;
    shape_strides(x, x_step);
    for (int64_t i = 0; i < batches * per_batch; i++) {
        if (!tuple_offset(ctx, node, in[1], i, x, batch, x_step, &offset))
            return false;
        memcpy(element_at(out, i * inner), element_at(in[0], i / per_batch * x_batch + offset),
               bytes);
    }
    return true;
}

bool infer_one_hot(struct ctx *ctx, struct node *node)
{
    const struct type *indices = input_type(node, 0), *values = input_type(node, 1);
    struct one_hot_attrs *attrs = &node->attrs.one_hot;
    struct type shape = { .rank = indices->rank + 1 };

    if (!check_kinds(ctx, node, 0, KINDS_NUMBER) || !check_rank(ctx, node, 1, 1, 1) ||
        !check_result_rank(ctx, node, shape.rank) || !check_axis(ctx, node, &shape, &attrs->axis))
        return false;
    if (values->dim[0] != 2)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: %lld values, expected two: off and on", op_name(node->op),
                          (long long)values->dim[0]);
    if (attrs->depth < 0)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: depth %lld, expected 0 or more",
                          op_name(node->op), (long long)attrs->depth);
    for (int i = 0, from = 0; i < shape.rank; i++)
        shape.dim[i] = i == attrs->axis ? attrs->depth : indices->dim[from++];
    set_output(node, 0, values->dtype, &shape);
    return true;
}

bool eval_one_hot(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const int64_t depth = node->attrs.one_hot.depth, n = type_elements(&out->type);
    const int64_t inner = type_span(&out->type, (int)node->attrs.one_hot.axis + 1, out->type.rank);
    const size_t bytes = dtype_bytes(out->type.dtype);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = i / inner % depth, from = i / (inner * depth) * inner + i % inner;
        const int64_t wanted = tensor_int_at(in[0], from);

        memcpy(element_at(out, i), element_at(in[1], wanted == at || wanted == at - depth), bytes);
    }
    return true;
}
