/* linear.c - what surrounds convolutions and matrix products. */
#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/rules.h"

/* The axis of the output channels; -1 for operators that have none. */
static int channel_axis(const struct node *node)
{
    const int rank = node->outputs[0]->type.rank;

    switch (node->op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D: return layout_channel_axis(node->attrs.conv.out_layout, rank);
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
        return layout_channel_axis(node->attrs.conv_transpose.data_layout, rank);
    case OP_DENSE: return rank - 1;
    default: return -1;
    }
}

/* One number per channel from a constant that broadcasts along the channels: the same payload as a
 * vector, or a scalar repeated. */
static struct value *channel_vector(struct rewrite *rewrite, struct value *constant, int64_t n)
{
    const struct type type = type_make(constant->type.dtype, 1, &n);
    const size_t bytes = dtype_bytes(type.dtype);
    char *data;

    if (type_elements(&constant->type) == n)
        return rule_constant_like(rewrite, constant, &type, constant->data);
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < n; i++)
        memcpy(data + (size_t)i * bytes, constant->data, bytes);
    return rule_constant_like(rewrite, constant, &type, data);
}

/* conv(x) + c -> bias_add(conv(x), c), for a constant c that varies over the channels at most */
struct value *add_to_bias(struct rewrite *rewrite, struct node *root)
{
    const struct type *shape = &root->outputs[0]->type;
    struct value *const c = root->inputs[1];
    struct node *const linear = root->inputs[0]->def;
    const int axis = linear ? channel_axis(linear) : -1;
    union attrs attrs = { .axis = { 0 } };

    if (axis < 0 || c->kind != VALUE_CONSTANT ||
        !type_same_shape(&linear->outputs[0]->type, shape) || !is_per_axis(&c->type, shape, axis))
        return NULL;
    attrs.axis.axis = axis;
    return rule_build2(rewrite, OP_BIAS_ADD, &attrs, root->inputs[0],
                       channel_vector(rewrite, c, shape->dim[axis]));
}

/* bias_add(conv(x), 0) -> conv(x): a sum that begins with 0 is not -0, unless by underflow. */
struct value *drop_zero_bias(struct rewrite *rewrite, struct node *root)
{
    const struct node *const linear = root->inputs[0]->def;
    const struct value *const bias = root->inputs[1];

    (void)rewrite;
    if (!linear || channel_axis(linear) < 0 || bias->kind != VALUE_CONSTANT)
        return NULL;
    for (int64_t i = 0; i < type_elements(&bias->type); i++)
        if (dtype_load(bias->type.dtype, bias->data, i) != 0)
            return NULL;
    return root->inputs[0];
}

/* bias_add(bias_add(x, b), c) and bias_add(x, b) + c -> bias_add(x, b + c) */
struct value *merge_biases(struct rewrite *rewrite, struct node *root)
{
    const struct type *shape = &root->outputs[0]->type, *type;
    struct node *const inner = only_defined_by(root->inputs[0], OP_BIAS_ADD);
    struct value *b, *c = root->inputs[1];
    int axis;
    void *data;

    if (!inner || c->kind != VALUE_CONSTANT || inner->inputs[1]->kind != VALUE_CONSTANT ||
        !dtype_is_float(shape->dtype) || !type_same_shape(&inner->outputs[0]->type, shape))
        return NULL;
    b = inner->inputs[1];
    type = &b->type;
    axis = type_axis(shape, inner->attrs.axis.axis);
    if (root->op == OP_BIAS_ADD ? type_axis(shape, root->attrs.axis.axis) != axis
                                : !is_per_axis(&c->type, shape, axis))
        return NULL;
    data = constant_alloc(rewrite->fn, type);
    for (int64_t i = 0; i < type->dim[0]; i++)
        dtype_store(type->dtype, data, i,
                    dtype_load(type->dtype, b->data, i) +
                        dtype_load(type->dtype, c->data, type_elements(&c->type) == 1 ? 0 : i));
    rule_covers(rewrite, inner);
    return rule_build2(rewrite, OP_BIAS_ADD, &inner->attrs, inner->inputs[0],
                       rule_constant_like(rewrite, b, type, data));
}

enum { TILE = 32 }; /* of a transposition: both sides stay in the cache */

static int64_t tile_end(int64_t start, int64_t extent)
{
    return extent - start < TILE ? extent : start + TILE;
}

static void transpose_tile(const struct type *type, const char *from, char *to, int64_t row,
                           int64_t column)
{
    const size_t bytes = dtype_bytes(type->dtype);

    for (int64_t i = row; i < tile_end(row, type->dim[0]); i++)
        for (int64_t j = column; j < tile_end(column, type->dim[1]); j++)
            memcpy(to + (size_t)(i * type->dim[1] + j) * bytes,
                   from + (size_t)(j * type->dim[0] + i) * bytes, bytes);
}

/* The constant matrix [k,n] as [n,k], which `type` says. */
static struct value *transposed_matrix(struct rewrite *rewrite, struct value *matrix,
                                       const struct type *type)
{
    char *data = constant_alloc(rewrite->fn, type);

    for (int64_t i = 0; i < type->dim[0]; i += TILE)
        for (int64_t j = 0; j < type->dim[1]; j += TILE)
            transpose_tile(type, matrix->data, data, i, j);
    return rule_constant_like(rewrite, matrix, type, data);
}

/* matmul(x, constant matrix) -> dense, with the batch dims of x flattened into rows */
struct value *matmul_to_dense(struct rewrite *rewrite, struct node *root)
{
    struct value *x = root->inputs[0], *w = root->inputs[1], *y;
    const struct type *out = &root->outputs[0]->type;
    const int rank = w->type.rank, last = x->type.rank - 1;
    const bool turned = root->attrs.matmul.transpose_b;
    const union attrs attrs = { .dense = { .out_dtype = root->attrs.matmul.out_dtype } };
    struct type rows, weight;

    if (w->kind != VALUE_CONSTANT || rank < 2 || rank > x->type.rank || last < 1 ||
        root->attrs.matmul.transpose_a || type_span(&w->type, 0, rank - 2) != 1 ||
        type_elements(&x->type) == 0 || type_elements(&w->type) == 0)
        return NULL;
    if (type_has_blocks(&w->type) && (!turned || rank != 2))
        return NULL; /* whose rows must stay where they are */
    rows =
        type_make(x->type.dtype, 2, (int64_t[]){ type_span(&x->type, 0, last), x->type.dim[last] });
    weight = type_make(w->type.dtype, 2, (int64_t[]){ out->dim[out->rank - 1], x->type.dim[last] });
    if (!type_has_blocks(&w->type))
        w = turned ? rule_constant_like(rewrite, w, &weight, w->data)
                   : transposed_matrix(rewrite, w, &weight);
    if (last > 1)
        x = rule_reshape(rewrite, x, &rows);
    y = rule_build2(rewrite, OP_DENSE, &attrs, x, w);
    return out->rank == 2 ? y : rule_reshape(rewrite, y, out);
}

/* Whether the transpose swaps the last two dims and keeps the others. */
static bool swaps_last_two(const struct node *transpose)
{
    const struct ints *axes = &transpose->attrs.axes.axes;
    const int rank = transpose->inputs[0]->type.rank;

    for (int i = 0; i < rank; i++)
        if (axes->at[i] != (i < rank - 2 ? i : 2 * rank - 3 - i))
            return false;
    return rank >= 2;
}

/* matmul(transpose(a), b) -> matmul(a, b) with the flag turned, likewise for b */
struct value *transpose_into_matmul(struct rewrite *rewrite, struct node *root)
{
    union attrs attrs = root->attrs;
    struct value *inputs[2];
    bool found = false;

    for (int i = 0; i < 2; i++) {
        const struct node *transpose = only_defined_by(root->inputs[i], OP_TRANSPOSE);
        bool *const flag = i == 0 ? &attrs.matmul.transpose_a : &attrs.matmul.transpose_b;

        inputs[i] = root->inputs[i];
        if (!transpose || !swaps_last_two(transpose))
            continue;
        inputs[i] = transpose->inputs[0];
        *flag = !*flag;
        found = true;
        rule_covers(rewrite, transpose);
    }
    return found ? rule_build2(rewrite, OP_MATMUL, &attrs, inputs[0], inputs[1]) : NULL;
}
