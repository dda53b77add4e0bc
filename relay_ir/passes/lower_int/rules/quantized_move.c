/* quantized_move.c - operators that only move, choose or bound numbers go in front of the
 * qnn.dequantize that they follow: op(dequantize(x)) -> dequantize(op(x)), with the same bits. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/passes/lower/quantized.h"

static struct value *dequantize_like(struct rewrite *rewrite, const struct node *dequantize,
                                     int64_t axis, struct value *x)
{
    const union attrs attrs = { .axis = { .axis = axis } };

    return rule_build3(rewrite, OP_QNN_DEQUANTIZE, &attrs, x, dequantize->inputs[1],
                       dequantize->inputs[2]);
}

/* A resize that takes elements as they are, and nothing else. */
static bool only_moves(const struct node *node)
{
    const struct resize_attrs *attrs = &node->attrs.resize;

    return node->op != OP_RESIZE ||
           (strcmp(attrs->method, "nearest_neighbor") == 0 &&
            strcmp(attrs->coordinate_transformation_mode, "tf_crop_and_resize") != 0);
}

/* For reshape and the like, transpose, strided_slice, max_pool, max, and for take, which reads
 * where its other input says; see the table. */
struct value *move_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);
    struct value *inputs[2] = { NULL, root->n_inputs > 1 ? root->inputs[1] : NULL };

    if (!node || root->n_inputs > 2 || !only_moves(root))
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

/* The stored number of a bound, within the type: one that lies beyond, and does nothing, need not be
 * exact. False for one that all numbers of the type lie beyond, too. */
static bool bound_exactly(const struct affine *affine, bool is_least, double bound, double *stored)
{
    const double least = least_stored(affine->dtype), greatest = greatest_stored(affine->dtype);

    if (isnan(bound))
        return false;
    if (!stored_exactly(affine, bound, stored) && *stored >= least && *stored <= greatest)
        return false;
    if (is_least ? *stored > greatest : *stored < least)
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

    if (!node ||
        !bound_exactly(&affine, true, relu ? 0 : root->attrs.clip.a_min, &attrs.clip.a_min) ||
        !bound_exactly(&affine, false, relu ? (double)INFINITY : root->attrs.clip.a_max,
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
    assert(node); /* there is one at least */
    return dequantize_like(
        rewrite, node, 0, rule_build(rewrite, OP_CONCATENATE, &root->attrs, root->n_inputs, parts));
}

/* argmax(dequantize(x)) -> argmax(x) */
struct value *arg_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);

    if (!node || affine.scale < 0x1p-100) /* differences must not vanish */
        return NULL;
    rule_covers(rewrite, node);
    return rule_build1(rewrite, root->op, &root->attrs, node->inputs[0]);
}

/* topk(dequantize(x)), and max_pool_indices -> dequantize(values), indices of topk(x) */
static struct value *quantized_in_order(struct rewrite *rewrite, const struct node *root)
{
    struct affine affine;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &affine);

    if (!node || affine.scale < 0x1p-100) /* differences must not vanish */
        return NULL;
    rule_covers(rewrite, node);
    return node->inputs[0];
}

static struct value *dequantized(struct rewrite *rewrite, const struct node *root,
                                 struct value *values)
{
    return dequantize_like(rewrite, root->inputs[0]->def, 0, values);
}

bool pairs_before_dequantize(struct module *module, bool *changed)
{
    return pairs_before(module, quantized_in_order, dequantized, changed);
}

/* --- before a quantize ------------------------------------------------------------------------ */

/* quantize(split(dequantize(x))[k]) -> requantize(split(x)[k]) */
struct value *quantize_of_split(struct rewrite *rewrite, struct node *root)
{
    struct node *split = defined_by(root->inputs[0], OP_SPLIT), *node, *whole;
    struct affine in, out;

    if (!split || !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    node = dequantize_of(rewrite, split->inputs[0], &in);
    if (!node)
        return NULL;
    rule_covers(rewrite, node);
    rule_covers(rewrite, split);
    whole = split_before(rewrite, split, node->inputs[0]);
    return whole ? requantized_to(rewrite, whole->outputs[root->inputs[0]->index], &in, &out)
                 : NULL;
}

/* quantize(pad(dequantize(x), number)) -> pad(requantize(x), quantized number) */
struct value *quantize_of_pad(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = defined_by(root->inputs[0], OP_PAD), *node;
    struct affine in, out;
    union attrs attrs;

    if (!pad || !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    node = dequantize_of(rewrite, pad->inputs[0], &in);
    if (!node || isnan(pad->attrs.pad.value))
        return NULL;
    attrs = pad->attrs;
    attrs.pad.value = stored_number(&out, pad->attrs.pad.value);
    rule_covers(rewrite, node);
    rule_covers(rewrite, pad);
    return rule_build1(rewrite, OP_PAD, &attrs,
                       requantized_to(rewrite, node->inputs[0], &in, &out));
}

static bool is_move(enum op op)
{
    return op == OP_COPY || op == OP_RESHAPE || op == OP_SQUEEZE || op == OP_EXPAND_DIMS ||
           op == OP_TRANSPOSE || op == OP_STRIDED_SLICE || op == OP_DEPTH_TO_SPACE ||
           op == OP_SPACE_TO_DEPTH || op == OP_MAX_POOL1D || op == OP_MAX_POOL2D ||
           op == OP_MAX_POOL3D || op == OP_GLOBAL_MAX_POOL;
}

/* quantize(move(x)) -> move(quantize(x)), where the quantize makes an integer operator of what
 * computes x: max_pool counts as a move, as to quantize is monotonous. */
struct value *quantize_of_move(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;
    struct affine out;

    if (!node || !is_move(node->op) || !only_quantized(rewrite, root->inputs[0], root) ||
        !may_become_integer(node->inputs[0]) || !value_only_user(node->inputs[0]) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    rule_covers(rewrite, node);
    return rule_build1(rewrite, node->op, &node->attrs,
                       rule_build3(rewrite, OP_QNN_QUANTIZE, &root->attrs, node->inputs[0],
                                   out.scale_value, out.zero_value));
}

/* quantize(resize(dequantize(x))) -> qnn.resize(x), linear and cubic ones: whose weights have the
 * sum 1, so that zero points stay what they are. A finer scale behind it would show how it rounds.
 * Cubic ones overshoot: theirs is the scale of x, or it would be bounded otherwise. */
struct value *resize_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *x;
    struct affine in, out;
    struct value *y;

    if (!node || node->op != OP_RESIZE || !qnn_resize_takes(node) ||
        !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    if (!x || dtype_bytes(in.dtype) != 1 || in.scale > out.scale ||
        (strcmp(node->attrs.resize.method, "cubic") == 0 && !affine_equal(&in, &out)))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    y = rule_build1(rewrite, OP_QNN_RESIZE, &node->attrs, x->inputs[0]);
    return y ? requantized_to(rewrite, y, &in, &out) : NULL;
}
