/* quantized_move.c - operators that only move, choose or bound numbers go in front of the
 * qnn.dequantize that they follow: op(dequantize(x)) -> dequantize(op(x)), with the same bits. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/rules/quantized.h"

static struct value *dequantize_like(struct rewrite *rewrite, const struct node *dequantize,
                                     int64_t axis, struct value *x)
{
    const union attrs attrs = { .axis = { .axis = axis } };

    return rule_build3(rewrite, OP_QNN_DEQUANTIZE, &attrs, x, dequantize->inputs[1],
                       dequantize->inputs[2]);
}

/* For reshape and the like, transpose, strided_slice, max_pool, and for take, which reads where its
 * other input says; see the table. */
struct value *move_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);

    struct value *inputs[2] = { NULL, root->n_inputs > 1 ? root->inputs[1] : NULL };

    if (!node || root->n_inputs > 2)
        return NULL;
    rule_covers(rewrite, node);
    inputs[0] = node->inputs[0];
    return dequantize_like(rewrite, node, 0,
                           rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs));
}

/* The same where scales and zero points lie along an axis: weights. */
struct value *transpose_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = defined_by(root->inputs[0], OP_QNN_DEQUANTIZE);
    const struct ints *axes = &root->attrs.axes.axes;
    int64_t axis = 0;

    if (!node || !is_quantized(node->inputs[0]->type.dtype) ||
        axes->n != node->outputs[0]->type.rank)
        return NULL;
    while (axis < axes->n && axes->at[axis] != node->attrs.axis.axis)
        axis++;
    if (axis == axes->n)
        return NULL;
    rule_covers(rewrite, node);
    return dequantize_like(rewrite, node, axis,
                           rule_build1(rewrite, root->op, &root->attrs, node->inputs[0]));
}

/* The stored number of `real`, where there is one, saturated or not. */
static bool stored_exactly(const struct affine *affine, double real, double *stored)
{
    *stored = rint(real / affine->scale) + (double)affine->zero;
    return isfinite(*stored) &&
           (float)((double)(float)(*stored - (double)affine->zero) * affine->scale) == (float)real;
}

/* A convolution takes padding in by itself, later (pad_into_conv). */
static bool is_read_by_window(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (op_spatial_rank(use->node->op) != 0)
            return true;
    return false;
}

/* nn.pad, with a number that x has. */
struct value *pad_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);
    union attrs attrs = root->attrs;

    if (!node || is_read_by_window(root->outputs[0]))
        return NULL;
    if (strcmp(root->attrs.pad.mode, "constant") == 0) {
        if (!stored_exactly(&affine, root->attrs.pad.value, &attrs.pad.value) ||
            attrs.pad.value < least_stored(affine.dtype) ||
            attrs.pad.value > greatest_stored(affine.dtype))
            return NULL;
    }
    rule_covers(rewrite, node);
    return dequantize_like(rewrite, node, 0, rule_build1(rewrite, OP_PAD, &attrs, node->inputs[0]));
}

/* The stored number of a bound, within the type: one that lies beyond need not be exact. */
static bool bound_exactly(const struct affine *affine, double bound, double *stored)
{
    const double least = least_stored(affine->dtype), greatest = greatest_stored(affine->dtype);

    if (isnan(bound))
        return false;
    if (!stored_exactly(affine, bound, stored) && *stored >= least && *stored <= greatest)
        return false;
    *stored = fmin(fmax(*stored, least), greatest);
    return true;
}

/* relu, and clip whose bounds are numbers that x has. */
struct value *clip_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    const bool relu = root->op == OP_RELU;
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);
    union attrs attrs = { .clip = { 0 } };

    if (!node || !bound_exactly(&affine, relu ? 0 : root->attrs.clip.a_min, &attrs.clip.a_min) ||
        !bound_exactly(&affine, relu ? (double)INFINITY : root->attrs.clip.a_max,
                       &attrs.clip.a_max))
        return NULL;
    if (attrs.clip.a_min <= least_stored(affine.dtype) &&
        attrs.clip.a_max >= greatest_stored(affine.dtype))
        return root->inputs[0];
    rule_covers(rewrite, node);
    return dequantize_like(rewrite, node, 0,
                           rule_build1(rewrite, OP_CLIP, &attrs, node->inputs[0]));
}

/* concatenate(dequantize(x) ...) -> dequantize(concatenate(x ...)), all in one scale */
struct value *join_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine first, affine;
    struct value **parts =
        arena_array(&rewrite->ctx->scratch, struct value *, (size_t)root->n_inputs);
    const struct node *node = NULL;

    for (int i = 0; i < root->n_inputs; i++) {
        node = dequantize_of(rewrite, root->inputs[i], &affine);
        if (i == 0)
            first = affine;
        if (!node || !affine_equal(&first, &affine))
            return NULL;
        parts[i] = node->inputs[0];
    }
    for (int i = 0; i < root->n_inputs; i++)
        rule_covers(rewrite, root->inputs[i]->def);
    return dequantize_like(
        rewrite, node, 0, rule_build(rewrite, OP_CONCATENATE, &root->attrs, root->n_inputs, parts));
}
