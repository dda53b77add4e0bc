/* convert_shape.c - RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, PAD, PADV2, CONCATENATION: quantised values are
 * moved, never computed with, so that scales must be the same. And MEAN. */
#include "frontend/tflite/convert.h"

bool convert_tfl_mean(struct tfl_node *node)
{
    const struct tfl_tensor *x, *y;
    union attrs attrs = { .reduce = { .keepdims = true } };
    struct ints axes;
    struct value *mean;

    if (!tfl_check(node, 2, 2, 1) || !tfl_constant_ints(node, 1, &axes))
        return false;
    x = node->inputs[0];
    y = node->outputs[0];
    for (int i = 0; i < axes.n; i++) {
        const int64_t axis = axes.at[i] < 0 ? axes.at[i] + x->type.rank : axes.at[i];

        if (axis < 0 || axis >= x->type.rank)
            return tfl_unsupported(node, "axis %lld of %d dimensions", (long long)axes.at[i],
                                   x->type.rank);
        if (!ints_has(&attrs.reduce.axis, axis))
            attrs.reduce.axis.at[attrs.reduce.axis.n++] = axis;
    }
    if (!attrs.reduce.axis.n)
        return tfl_unsupported(node, "a mean over no dimension");
    if (x->type.dtype == DTYPE_F32) {
        mean = tfl_build1(node, OP_MEAN, &attrs, "mean", tfl_value(node, 0));
    } else {
        if ((x->type.dtype != DTYPE_I16 && !tfl_check_type(node, x, DTYPE_I8)) ||
            !tfl_check_type(node, y, x->type.dtype) || !tfl_check_scale(node, x) ||
            !tfl_check_scale(node, y))
            return false;
        mean = tfl_build(node, OP_QNN_MEAN_DOUBLE, &attrs, "mean", 5,
                         (struct value *const[]){
                             tfl_value(node, 0), tfl_scale_of(node, x, "in_scale"),
                             tfl_zero_of(node, x, "in_zero"), tfl_scale_of(node, y, "scale"),
                             tfl_zero_of(node, y, "zero") });
    }
    return tfl_output(node, 0, tfl_reshape(node, mean, &y->type, "shaped"));
}

/* The file says what the shape becomes. */
bool convert_tfl_reshape(struct tfl_node *node)
{
    if (!tfl_check(node, 1, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]))
        return false;
    if (type_elements(&node->inputs[0]->type) != type_elements(&node->outputs[0]->type))
        return tfl_unsupported(node, "%s to %s",
                               type_text(&node->ctx->perm, &node->inputs[0]->type),
                               type_text(&node->ctx->perm, &node->outputs[0]->type));
    return tfl_output(node, 0, tfl_reshape(node, tfl_value(node, 0), &node->outputs[0]->type, ""));
}

bool convert_tfl_transpose(struct tfl_node *node)
{
    struct ints axes;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &axes))
        return false;
    for (int i = 0; i < axes.n; i++)
        if (axes.at[i] < 0)
            axes.at[i] += node->inputs[0]->type.rank;
    if (axes.n != node->inputs[0]->type.rank)
        return tfl_unsupported(node, "%d axes for %s", axes.n,
                               type_text(&node->ctx->perm, &node->inputs[0]->type));
    return tfl_output(node, 0, tfl_permute(node, tfl_value(node, 0), "moved", axes.n, axes.at));
}

/* The number that pads: the zero point, or of PADV2 input 2. */
static bool pad_value(struct tfl_node *node, double *value)
{
    const struct tfl_tensor *x = node->inputs[0];
    struct tensor given;

    *value = dtype_is_float(x->type.dtype) ? 0 : (double)tfl_zero(x);
    if (node->arg == 0)
        return true;
    if (!tfl_constant(node, 2, &given) || !tfl_check_kept(node, node->inputs[2], node->outputs[0]))
        return false;
    if (type_elements(&given.type) != 1)
        return tfl_unsupported(node, "padding with %s, expected one number",
                               type_text(&node->ctx->perm, &given.type));
    *value = tensor_at(&given, 0);
    return true;
}

bool convert_tfl_pad(struct tfl_node *node)
{
    const int n_inputs = node->arg ? 3 : 2;
    union attrs attrs = { .pad = { .mode = "constant" } };
    struct ints amounts;
    int rank;

    if (!tfl_check(node, n_inputs, n_inputs, 1) ||
        !tfl_check_kept(node, node->inputs[0], node->outputs[0]) ||
        !tfl_constant_ints(node, 1, &amounts) || !pad_value(node, &attrs.pad.value))
        return false;
    rank = node->inputs[0]->type.rank;
    if (amounts.n != 2 * rank)
        return tfl_unsupported(node, "%d amounts for %s", amounts.n,
                               type_text(&node->ctx->perm, &node->inputs[0]->type));
    attrs.pad.pad_before.n = attrs.pad.pad_after.n = rank;
    for (int i = 0; i < amounts.n; i++) {
        if (amounts.at[i] < 0)
            return tfl_unsupported(node, "padding of %lld", (long long)amounts.at[i]);
        (i % 2 ? &attrs.pad.pad_after : &attrs.pad.pad_before)->at[i / 2] = amounts.at[i];
    }
    return tfl_output(node, 0, tfl_build1(node, OP_PAD, &attrs, "padded", tfl_value(node, 0)));
}

bool convert_tfl_concatenation(struct tfl_node *node)
{
    enum { AXIS, ACTIVATION };
    const int rank = node->n_outputs ? node->outputs[0]->type.rank : 0;
    const int64_t axis = tfl_int(node, AXIS, 0);
    const union attrs attrs = { .axis = { .axis = axis < 0 ? axis + rank : axis } };
    struct value **values = arena_array(&node->ctx->perm, struct value *, node->n_inputs);

    if (!tfl_check(node, node->n_inputs > 0 ? node->n_inputs : 1, node->n_inputs, 1))
        return false;
    if (tfl_word(node, ACTIVATION) != 0)
        return tfl_unsupported(node, "a fused activation, which TensorFlow Lite Micro lacks, too");
    for (int i = 0; i < node->n_inputs; i++)
        if (!tfl_check_kept(node, node->inputs[i], node->outputs[0]))
            return false;
    for (int i = 0; i < node->n_inputs; i++)
        values[i] = tfl_value(node, i);
    return tfl_output(node, 0,
                      tfl_build(node, OP_CONCATENATE, &attrs, "joined", node->n_inputs, values));
}
