/* convert_gather.c - GATHER, GATHER_ND, EMBEDDING_LOOKUP, REVERSE_V2, SELECT, SELECT_V2: elements that are chosen,
 * quantised values as they are. */
#include "frontend/tflite/convert_compose.h"

static bool check_indices(struct tfl_node *node, int input)
{
    return tfl_is_plain(node->inputs[input]) ||
           tfl_check_type(node, node->inputs[input], DTYPE_I32);
}

/* Of each batch its own indices: x, indices [batch..., n]. */
static struct value *gathered_in_batches(struct tfl_node *node, int64_t batch)
{
    const union attrs attrs = { .gather_nd = { .batch_dims = batch } };
    struct type tuples = node->inputs[1]->type;

    if (tuples.rank >= MAX_RANK) {
        tfl_unsupported(node, "indices of %d dimensions", tuples.rank);
        return NULL;
    }
    tuples.dim[tuples.rank++] = 1;
    return tfl_build(
        node, OP_GATHER_ND, &attrs, "chosen", 2,
        (struct value *const[]){ tfl_value(node, 0),
                                 tfl_reshape(node, tfl_value(node, 1), &tuples, "tuples") });
}

bool convert_tfl_gather(struct tfl_node *node)
{
    enum { AXIS, BATCH };
    const int64_t batch = tfl_int(node, BATCH, 0);
    union attrs attrs;
    int64_t axis;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !check_indices(node, 1) ||
        !tfl_check_axis(node, tfl_int(node, AXIS, 0), node->inputs[0]->type.rank, &axis))
        return false;
    if (batch != 0 && batch != axis)
        return tfl_unsupported(node, "%lld batch dimensions and axis %lld, expected 0 or the same",
                               (long long)batch, (long long)axis);
    attrs.axis.axis = axis;
    return tfl_output(
        node, 0,
        batch ? gathered_in_batches(node, batch)
              : tfl_build(node, OP_TAKE, &attrs, "chosen", 2,
                          (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1) }));
}

bool convert_tfl_gather_nd(struct tfl_node *node)
{
    const union attrs attrs = { .gather_nd = { .batch_dims = 0 } };

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !check_indices(node, 1))
        return false;
    return tfl_output(node, 0,
                      tfl_build(node, OP_GATHER_ND, &attrs, "chosen", 2,
                                (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1) }));
}

/* Inputs: indices, rows. Rows of quantised values may become floats. */
bool convert_tfl_embedding_lookup(struct tfl_node *node)
{
    const union attrs attrs = { .axis = { .axis = 0 } };
    const struct tfl_tensor *x;
    struct value *rows;

    if (!tfl_check(node, 2, 2, 1) || !check_indices(node, 0))
        return false;
    x = node->inputs[1];
    rows = tfl_build(node, OP_TAKE, &attrs, "rows", 2,
                     (struct value *const[]){ tfl_value(node, 1), tfl_value(node, 0) });
    if (x->type.dtype != DTYPE_I8 || node->outputs[0]->type.dtype != DTYPE_F32)
        return tfl_check_kept(node, x, node->outputs[0]) && tfl_output(node, 0, rows);
    return tfl_check_scale(node, x) &&
           tfl_output(node, 0,
                      tfl_build(node, OP_QNN_DEQUANTIZE, &attrs, "numbers", 3,
                                (struct value *const[]){ rows, tfl_scale_of(node, x, "scale"),
                                                         tfl_zero_of(node, x, "zero") }));
}

bool convert_tfl_reverse(struct tfl_node *node)
{
    const struct type *x;
    struct ints axes;
    union attrs attrs;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &axes))
        return false;
    x = &node->inputs[0]->type;
    attrs.slice = (struct slice_attrs){ .begin = ints_fill(x->rank, 0),
                                        .strides = ints_fill(x->rank, 1),
                                        .size = ints_of(x->rank, x->dim) };
    for (int i = 0; i < axes.n; i++) {
        int64_t axis;

        if (!tfl_check_axis(node, axes.at[i], x->rank, &axis))
            return false;
        attrs.slice.begin.at[axis] = x->dim[axis] > 0 ? x->dim[axis] - 1 : 0;
        attrs.slice.strides.at[axis] = -1;
    }
    return tfl_output(node, 0,
                      tfl_build1(node, OP_STRIDED_SLICE, &attrs, "reversed", tfl_value(node, 0)));
}

/* SELECT takes a condition for each entry of dimension 0, too; SELECT_V2 broadcasts. */
bool convert_tfl_select(struct tfl_node *node)
{
    struct type shape;
    struct value *condition;

    if (!tfl_check(node, 3, 3, 1) || !tfl_check_type(node, node->inputs[0], DTYPE_BOOL) ||
        !tfl_check_kept(node, node->inputs[1], node->outputs[0]) ||
        !tfl_check_kept(node, node->inputs[2], node->outputs[0]))
        return false;
    shape = node->inputs[0]->type;
    if (node->arg == 0 && shape.rank == 1)
        while (shape.rank < node->outputs[0]->type.rank)
            shape.dim[shape.rank++] = 1;
    condition = tfl_reshape(node, tfl_value(node, 0), &shape, "condition");
    return tfl_output(node, 0,
                      tfl_where(node, "y", condition, tfl_value(node, 1), tfl_value(node, 2)));
}
