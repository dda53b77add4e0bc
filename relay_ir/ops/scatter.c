/* scatter.c - writing at computed places: scatter_elements and scatter_nd (inputs x, indices,
 * updates). Updates come one after the other in row-major order, so that the last one of several
 * for the same place wins, or all of them are reduced in that order. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/gather.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

static bool infer_scatter_elements(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *indices = input_type(node, 1);
    int64_t *axis = &node->attrs.scatter.axis;

    if (!check_axis(ctx, node, x, axis) || !check_rank(ctx, node, 1, x->rank, x->rank))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != *axis && indices->dim[i] > x->dim[i])
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: indices of shape %s do not fit into shape %s off axis %lld",
                              op_name(node->op), shape_text(&ctx->perm, indices),
                              shape_text(&ctx->perm, x), (long long)*axis);
    if (!type_same_shape(indices, input_type(node, 2)))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: updates of shape %s, expected the shape of the indices, %s",
                          op_name(node->op), shape_text(&ctx->perm, input_type(node, 2)),
                          shape_text(&ctx->perm, indices));
    return true;
}

static bool infer_scatter_nd(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *indices = input_type(node, 1);
    struct type wanted = { 0 };
    int64_t tuple;

    if (!check_rank(ctx, node, 0, 1, MAX_RANK) || !check_rank(ctx, node, 1, 1, MAX_RANK))
        return false;
    tuple = indices->dim[indices->rank - 1];
    if (tuple > x->rank)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: index tuples of %lld for shape %s", op_name(node->op),
                          (long long)tuple, shape_text(&ctx->perm, x));
    if (!check_result_rank(ctx, node, indices->rank - 1 + x->rank - tuple))
        return false;
    for (int i = 0; i < indices->rank - 1; i++)
        wanted.dim[wanted.rank++] = indices->dim[i];
    for (int64_t i = tuple; i < x->rank; i++)
        wanted.dim[wanted.rank++] = x->dim[i];
    if (!type_same_shape(&wanted, input_type(node, 2)))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: updates of shape %s, expected %s", op_name(node->op),
                          shape_text(&ctx->perm, input_type(node, 2)),
                          shape_text(&ctx->perm, &wanted));
    return true;
}

/* Each element is one of the data or of the updates; a sum or product is neither. */
static bool scatter_chooses(const struct node *node)
{
    const char *reduction = node->attrs.scatter.reduction;

    return strcmp(reduction, "add") != 0 && strcmp(reduction, "mul") != 0;
}

bool infer_scatter(struct ctx *ctx, struct node *node)
{
    static const char *const reductions[] = { "none", "add", "mul", "max", "min" };
    const bool elements = node->op == OP_SCATTER_ELEMENTS;

    if (!check_index_type(ctx, node, 1) || !check_same_dtype(ctx, node, 0, 2) ||
        !check_word(ctx, node, "reduction", &node->attrs.scatter.reduction, reductions, 5) ||
        (strcmp(node->attrs.scatter.reduction, "none") != 0 &&
         !check_kinds(ctx, node, 0, KINDS_PLAIN)) ||
        !(elements ? infer_scatter_elements(ctx, node) : infer_scatter_nd(ctx, node)))
        return false;
    set_output(node, 0, input_type(node, 0)->dtype, input_type(node, 0));
    if (scatter_chooses(node))
        pass_common_scale(node, 0, 0, 2);
    return true;
}

static double reduce_real(const char *reduction, double was, double now)
{
    if (strcmp(reduction, "add") == 0)
        return was + now;
    if (strcmp(reduction, "mul") == 0)
        return was * now;
    if (isnan(was) || isnan(now))
        return NAN;
    return (now > was) == (strcmp(reduction, "max") == 0) ? now : was;
}

static wide reduce_whole(const char *reduction, wide was, wide now)
{
    if (strcmp(reduction, "add") == 0)
        return was + now;
    if (strcmp(reduction, "mul") == 0)
        return (wide)((uint64_t)was * (uint64_t)now);
    return (now > was) == (strcmp(reduction, "max") == 0) ? now : was;
}

static void update(const struct node *node, struct tensor *y, int64_t to,
                   const struct tensor *updates, int64_t from)
{
    const char *reduction = node->attrs.scatter.reduction;

    if (strcmp(reduction, "none") == 0)
        memcpy(element_at(y, to), element_at(updates, from), dtype_bytes(y->type.dtype));
    else if (dtype_is_float(y->type.dtype))
        tensor_put(y, to, reduce_real(reduction, tensor_at(y, to), tensor_at(updates, from)));
    else
        tensor_put_wide(
            y, to, reduce_whole(reduction, tensor_wide_at(y, to), tensor_wide_at(updates, from)));
}

static bool scatter_elements(struct ctx *ctx, const struct node *node, const struct tensor *indices,
                             const struct tensor *updates, struct tensor *y)
{
    const int64_t axis = node->attrs.scatter.axis, n = type_elements(&indices->type);
    struct walk walk = walk_begin(indices->type.rank, indices->type.dim);
    int64_t y_step[MAX_RANK], axis_step, index;

    shape_strides(&y->type, y_step);
    axis_step = y_step[axis];
    y_step[axis] = 0; /* the index says where along this one */
    walk_add(&walk, y_step);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        if (!index_at(ctx, node, indices, i, y->type.dim[axis], &index))
            return false;
        update(node, y, walk.offset[0] + index * axis_step, updates, i);
    }
    return true;
}

static bool scatter_nd(struct ctx *ctx, const struct node *node, const struct tensor *indices,
                       const struct tensor *updates, struct tensor *y)
{
    const int last = indices->type.rank - 1;
    const int64_t n = type_span(&indices->type, 0, last);
    const int64_t inner = type_span(&y->type, (int)indices->type.dim[last], y->type.rank);
    int64_t y_step[MAX_RANK], offset;

    if (type_elements(&updates->type) == 0)
        return true;
    shape_strides(&y->type, y_step);
    for (int64_t i = 0; i < n; i++) {
        if (!tuple_offset(ctx, node, indices, i, &y->type, 0, y_step, &offset))
            return false;
        for (int64_t k = 0; k < inner; k++)
            update(node, y, offset + k, updates, i * inner + k);
    }
    return true;
}

bool eval_scatter(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    memcpy(out->data, in[0]->data, type_bytes(&out->type));
    return (node->op == OP_SCATTER_ELEMENTS ? scatter_elements : scatter_nd)(ctx, node, in[1],
                                                                             in[2], out);
}
