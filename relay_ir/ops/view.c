/* view.c - the same elements in the same order under another shape. */
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"

/* Gives the output a shape that has as many elements as the input. */
static bool set_view(struct ctx *ctx, struct node *node, const struct type *shape)
{
    const struct type *x = input_type(node, 0);

    if (!type_check_size(ctx, node_origin(node), shape))
        return false;
    if (type_elements(shape) != type_elements(x))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shape %s has %lld elements, %s has %lld", op_name(node->op),
                          shape_text(&ctx->perm, x), (long long)type_elements(x),
                          shape_text(&ctx->perm, shape), (long long)type_elements(shape));
    set_output(node, 0, x->dtype, shape);
    pass_scales(node, 0, 0, view_axis(x, shape, scales_axis(node, 0)));
    return true;
}

/* Replaces the only -1 by what is left over. */
static bool complete_shape(struct ctx *ctx, const struct node *node, struct type *shape)
{
    const int64_t elements = type_elements(input_type(node, 0));
    int open = -1;

    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] != -1)
            continue;
        if (open >= 0)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: only one dimension of the new shape may be -1",
                              op_name(node->op));
        open = i;
    }
    if (open < 0)
        return true;
    shape->dim[open] = 1;
    if (!type_check_size(ctx, node_origin(node), shape))
        return false;
    if (!type_elements(shape) || elements % type_elements(shape))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: no extent for the -1 makes %lld elements out of the rest of the new "
                          "shape, which has %lld",
                          op_name(node->op), (long long)elements, (long long)type_elements(shape));
    shape->dim[open] = elements / type_elements(shape);
    return true;
}

bool infer_reshape(struct ctx *ctx, struct node *node)
{
    struct ints *wanted = &node->attrs.shape.shape;
    struct type shape;

    if (!check_result_rank(ctx, node, wanted->n))
        return false;
    shape = type_make(input_type(node, 0)->dtype, wanted->n, wanted->at);
    if (!complete_shape(ctx, node, &shape) || !set_view(ctx, node, &shape))
        return false;
    *wanted = ints_of(shape.rank, shape.dim);
    return true;
}

static struct ints unit_dims(const struct type *type)
{
    struct ints axes = { 0 };

    for (int i = 0; i < type->rank; i++)
        if (type->dim[i] == 1)
            axes.at[axes.n++] = i;
    return axes;
}

bool infer_squeeze(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct ints *axes = &node->attrs.axes.axes;
    struct type shape = { .dtype = x->dtype };

    if (axes->n == 0)
        *axes = unit_dims(x);
    if (!check_axes(ctx, node, x->rank, axes))
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (!ints_has(axes, i))
            shape.dim[shape.rank++] = x->dim[i];
        else if (x->dim[i] != 1)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: dimension %d of shape %s is %lld, only 1 can be removed",
                              op_name(node->op), i, shape_text(&ctx->perm, x),
                              (long long)x->dim[i]);
    }
    return set_view(ctx, node, &shape);
}

bool infer_expand_dims(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct ints *axes = &node->attrs.axes.axes;
    struct type shape = { .dtype = x->dtype, .rank = x->rank + axes->n };

    if (!check_result_rank(ctx, node, shape.rank) || !check_axes(ctx, node, shape.rank, axes))
        return false;
    for (int i = 0, from = 0; i < shape.rank; i++)
        shape.dim[i] = ints_has(axes, i) ? 1 : x->dim[from++];
    return set_view(ctx, node, &shape);
}

bool eval_view(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    (void)ctx;
    (void)node;
    memcpy(out->data, in[0]->data, type_bytes(&out->type));
    return true;
}
