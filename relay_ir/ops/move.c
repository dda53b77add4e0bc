/* move.c - operators that put elements elsewhere by a fixed rule: each is a copy with other steps,
 * for every element type. */
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

/* Scales pass where both sides have the same. */
bool infer_if(struct ctx *ctx, struct node *node)
{
    const struct type *yes = input_type(node, 1), *no = input_type(node, 2);

    if (!check_kinds(ctx, node, 0, KINDS_BOOL) || !check_same_dtype(ctx, node, 1, 2))
        return false;
    if (type_elements(input_type(node, 0)) != 1)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: the condition has the shape %s, expected one truth value",
                          op_name(node->op), shape_text(&ctx->perm, input_type(node, 0)));
    if (!type_same_shape(yes, no))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: one side has the shape %s, the other %s, expected one shape",
                          op_name(node->op), shape_text(&ctx->perm, yes),
                          shape_text(&ctx->perm, no));
    set_output(node, 0, yes->dtype, yes);
    if (type_equal(yes, no))
        pass_scales_in_place(node, 0, 1);
    return true;
}

bool eval_if(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
             struct tensor *out)
{
    const struct tensor *from = tensor_int_at(in[0], 0) ? in[1] : in[2];

    (void)ctx;
    (void)node;
    if (type_elements(&out->type))
        memcpy(out->data, from->data, type_bytes(&out->type));
    return true;
}

bool infer_transpose(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct ints *axes = &node->attrs.axes.axes;
    struct type shape = *x;

    if (axes->n == 0)
        for (axes->n = 0; axes->n < x->rank; axes->n++)
            axes->at[axes->n] = x->rank - 1 - axes->n;
    if (!check_per_dim(ctx, node, x, "axes", axes) || !check_axes(ctx, node, x->rank, axes))
        return false;
    for (int i = 0; i < x->rank; i++)
        shape.dim[i] = x->dim[axes->at[i]];
    set_output(node, 0, x->dtype, &shape);
    for (int i = 0; i < x->rank; i++)
        if (scales_axis(node, 0) < 0 || axes->at[i] == scales_axis(node, 0))
            pass_scales(node, 0, 0, i);
    return true;
}

bool eval_transpose(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const struct type *x = &in[0]->type, *y = &out->type;
    int64_t x_step[MAX_RANK], y_step[MAX_RANK], from_step[MAX_RANK];

    (void)ctx;
    shape_strides(x, x_step);
    shape_strides(y, y_step);
    for (int i = 0; i < y->rank; i++)
        from_step[i] = x_step[node->attrs.axes.axes.at[i]];
    copy_steps(y->rank, y->dim, dtype_bytes(y->dtype), out->data, y_step, in[0]->data, from_step);
    return true;
}

/* Whether the quantised values of all inputs mean the same. */
static bool have_one_meaning(const struct node *node)
{
    struct type first = *input_type(node, 0);

    for (int k = 1; k < node->n_inputs; k++) {
        first = type_make(first.dtype, input_type(node, k)->rank, input_type(node, k)->dim);
        first.quant = input_type(node, 0)->quant;
        if (!type_equal(&first, input_type(node, k)))
            return false;
    }
    return true;
}

bool infer_concatenate(struct ctx *ctx, struct node *node)
{
    const struct type *first = input_type(node, 0);
    struct type shape = *first;
    int64_t *axis = &node->attrs.axis.axis;

    if (!check_axis(ctx, node, first, axis))
        return false;
    for (int k = 1; k < node->n_inputs; k++) {
        struct type same;

        if (!node->inputs[k])
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "input %d of %s is missing", k,
                              op_name(node->op));
        if (!check_same_dtype(ctx, node, 0, k))
            return false;
        same = *input_type(node, k);
        if (same.rank == shape.rank)
            same.dim[*axis] = first->dim[*axis];
        if (!type_same_shape(&same, first))
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: shapes %s and %s differ in more than axis %lld",
                              op_name(node->op), shape_text(&ctx->perm, first),
                              shape_text(&ctx->perm, input_type(node, k)), (long long)*axis);
        shape.dim[*axis] += input_type(node, k)->dim[*axis];
    }
    set_output(node, 0, first->dtype, &shape);
    if (have_one_meaning(node))
        pass_scales_in_place(node, 0, 0);
    return true;
}

bool eval_concatenate(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    const int64_t axis = node->attrs.axis.axis;
    int64_t y_step[MAX_RANK], x_step[MAX_RANK], start = 0;

    (void)ctx;
    shape_strides(&out->type, y_step);
    for (int k = 0; k < node->n_inputs; k++) {
        const struct type *x = &in[k]->type;

        shape_strides(x, x_step);
        copy_steps(x->rank, x->dim, dtype_bytes(x->dtype), element_at(out, start * y_step[axis]),
                   y_step, in[k]->data, x_step);
        start += x->dim[axis];
    }
    return true;
}

/* The extent of part k along the axis, or -1 when there are no equal parts. */
static int64_t part_size(const struct node *node, int k)
{
    const struct split_attrs *split = &node->attrs.split;
    const int64_t extent = input_type(node, 0)->dim[split->axis];

    if (split->sizes.n)
        return split->sizes.at[k];
    return extent % node->n_outputs ? -1 : extent / node->n_outputs;
}

bool infer_split(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct split_attrs *split = &node->attrs.split;
    int64_t left;

    if (!check_axis(ctx, node, x, &split->axis))
        return false;
    if (split->sizes.n && split->sizes.n != node->n_outputs)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s has %d sizes for %d outputs",
                          op_name(node->op), split->sizes.n, node->n_outputs);
    left = x->dim[split->axis];
    for (int k = 0; k < node->n_outputs; k++) {
        const int64_t size = part_size(node, k);
        struct type shape = *x;

        if (size < 0 || size > left)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: axis %lld of shape %s cannot be split into these sizes",
                              op_name(node->op), (long long)split->axis, shape_text(&ctx->perm, x));
        left -= size;
        shape.dim[split->axis] = size;
        set_output(node, k, x->dtype, &shape);
        pass_scales_in_place(node, k, 0);
    }
    return left == 0 ||
           diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: the sizes leave %lld of axis %lld of shape %s over", op_name(node->op),
                      (long long)left, (long long)split->axis, shape_text(&ctx->perm, x));
}

bool eval_split(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const int64_t axis = node->attrs.split.axis;
    int64_t x_step[MAX_RANK], y_step[MAX_RANK], start = 0;

    (void)ctx;
    shape_strides(&in[0]->type, x_step);
    for (int k = 0; k < node->n_outputs; k++) {
        const struct type *y = &out[k].type;

        shape_strides(y, y_step);
        copy_steps(y->rank, y->dim, dtype_bytes(y->dtype), out[k].data, y_step,
                   element_at(in[0], start * x_step[axis]), x_step);
        start += y->dim[axis];
    }
    return true;
}

/* Whether all of begin, begin + stride, ... (size of them) are in 0 .. extent-1. Numbers that are
 * never used stay near it all the same, so that nobody has to fear their products. */
static bool slice_in_range(int64_t extent, int64_t begin, int64_t stride, int64_t size)
{
    int64_t last;

    if (stride > extent + 1 || stride < -extent - 1)
        return false;
    if (size == 0)
        return begin >= 0 && begin <= extent;
    if (size < 0 || __builtin_mul_overflow(size - 1, stride, &last) ||
        __builtin_add_overflow(last, begin, &last))
        return false;
    return begin >= 0 && begin < extent && last >= 0 && last < extent;
}

/* The axis if all of it is taken, in its order; else -1. */
static int whole_axis(const struct node *node, int axis)
{
    const struct slice_attrs *slice = &node->attrs.slice;

    return axis >= 0 && slice->begin.at[axis] == 0 && slice->strides.at[axis] == 1 &&
                   slice->size.at[axis] == input_type(node, 0)->dim[axis]
               ? axis
               : -1;
}

bool infer_strided_slice(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const struct slice_attrs *slice = &node->attrs.slice;
    struct type shape = *x;

    if (!check_per_dim(ctx, node, x, "begin", &slice->begin) ||
        !check_per_dim(ctx, node, x, "strides", &slice->strides) ||
        !check_per_dim(ctx, node, x, "size", &slice->size))
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (slice->strides.at[i] == 0)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: the stride of axis %d is 0",
                              op_name(node->op), i);
        if (!slice_in_range(x->dim[i], slice->begin.at[i], slice->strides.at[i], slice->size.at[i]))
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: %lld elements from %lld with stride %lld are not within axis %d "
                              "of shape %s",
                              op_name(node->op), (long long)slice->size.at[i],
                              (long long)slice->begin.at[i], (long long)slice->strides.at[i], i,
                              shape_text(&ctx->perm, x));
        shape.dim[i] = slice->size.at[i];
    }
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, whole_axis(node, scales_axis(node, 0)));
    return true;
}

bool eval_strided_slice(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                        struct tensor *out)
{
    const struct slice_attrs *slice = &node->attrs.slice;
    const struct type *y = &out->type;
    int64_t x_step[MAX_RANK], y_step[MAX_RANK], start = 0;

    (void)ctx;
    if (type_elements(y) == 0)
        return true; /* begin need not be an element then */
    shape_strides(&in[0]->type, x_step);
    shape_strides(y, y_step);
    for (int i = 0; i < y->rank; i++) {
        start += slice->begin.at[i] * x_step[i];
        x_step[i] *= slice->strides.at[i];
    }
    copy_steps(y->rank, y->dim, dtype_bytes(y->dtype), out->data, y_step, element_at(in[0], start),
               x_step);
    return true;
}

bool infer_tile(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const struct ints *repeats = &node->attrs.shape.shape;
    struct type shape = *x;

    if (!check_per_dim(ctx, node, x, "shape", repeats))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (repeats->at[i] < 0 || __builtin_mul_overflow(x->dim[i], repeats->at[i], &shape.dim[i]))
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: axis %d of shape %s cannot be repeated %lld times",
                              op_name(node->op), i, shape_text(&ctx->perm, x),
                              (long long)repeats->at[i]);
    set_output(node, 0, x->dtype, &shape);
    pass_scales_in_place(node, 0, 0);
    return true;
}

/* For each tile a copy of x. */
bool eval_tile(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const struct ints *repeats = &node->attrs.shape.shape;
    const int64_t tiles = type_elements(x) ? type_elements(&out->type) / type_elements(x) : 0;
    struct walk walk = walk_begin(x->rank, repeats->at);
    int64_t x_step[MAX_RANK], y_step[MAX_RANK], tile_step[MAX_RANK];

    (void)ctx;
    shape_strides(x, x_step);
    shape_strides(&out->type, y_step);
    for (int i = 0; i < x->rank; i++)
        tile_step[i] = y_step[i] * x->dim[i];
    walk_add(&walk, tile_step);
    for (int64_t i = 0; i < tiles; i++, walk_next(&walk))
        copy_steps(x->rank, x->dim, dtype_bytes(x->dtype), element_at(out, walk.offset[0]), y_step,
                   in[0]->data, x_step);
    return true;
}

bool infer_broadcast_to(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct ints *wanted = &node->attrs.shape.shape;
    struct type shape;

    if (!check_result_rank(ctx, node, wanted->n))
        return false;
    shape = type_make(x->dtype, wanted->n, wanted->at);
    if (!shape_broadcast(x, &shape, &shape))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shape %s does not broadcast to %s", op_name(node->op),
                          shape_text(&ctx->perm, x), shape_text(&ctx->perm, &shape));
    *wanted = ints_of(shape.rank, shape.dim);
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    return true;
}

bool eval_broadcast_to(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    const struct type *y = &out->type;
    int64_t x_step[MAX_RANK], y_step[MAX_RANK];

    (void)ctx;
    (void)node;
    shape_broadcast_strides(&in[0]->type, y->rank, x_step);
    shape_strides(y, y_step);
    copy_steps(y->rank, y->dim, dtype_bytes(y->dtype), out->data, y_step, in[0]->data, x_step);
    return true;
}
