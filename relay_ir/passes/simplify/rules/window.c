/* window.c - padding and pooling. */
#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/rules.h"

static bool all_zero(const int64_t *at, int n)
{
    for (int i = 0; i < n; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static bool all_one(const struct ints *ints)
{
    for (int i = 0; i < ints->n; i++)
        if (ints->at[i] != 1)
            return false;
    return true;
}

/* The node's padding (begins, then ends) with that of an explicit padding by `zero` in front added.
 * False when the padding in front is of another kind, or touches batch or channels. */
static bool joined_padding(const struct node *pad, double zero, const struct ints *own,
                           struct ints *joined)
{
    const struct pad_attrs *attrs = &pad->attrs.pad;
    const int n = own->n / 2;

    if (strcmp(attrs->mode, "constant") != 0 || attrs->value != zero ||
        attrs->pad_before.n != n + 2 || attrs->pad_after.n != n + 2 ||
        !all_zero(attrs->pad_before.at, 2) || !all_zero(attrs->pad_after.at, 2))
        return false;
    joined->n = own->n;
    for (int i = 0; i < n; i++) {
        if (attrs->pad_before.at[2 + i] < 0 || attrs->pad_after.at[2 + i] < 0)
            return false;
        joined->at[i] = own->at[i] + attrs->pad_before.at[2 + i];
        joined->at[n + i] = own->at[n + i] + attrs->pad_after.at[2 + i];
    }
    return true;
}

/* conv(pad(x, 0)) -> conv(x) with more padding */
struct value *pad_into_conv(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = defined_by(root->inputs[0], OP_PAD);
    union attrs attrs = root->attrs;

    if (!pad || !str_starts(attrs.conv.data_layout, "NC") ||
        !joined_padding(pad, 0, &root->attrs.conv.padding, &attrs.conv.padding))
        return NULL;
    rule_covers(rewrite, pad);
    return rule_build2(rewrite, root->op, &attrs, pad->inputs[0], root->inputs[1]);
}

/* How much padding leaves those outputs only that the slice takes, all channels of all images;
 * false where some of x would have to be left out. */
static bool sliced_padding(const struct slice_attrs *slice, const struct node *conv,
                           struct ints *padding)
{
    const struct type *x = &conv->inputs[0]->type, *w = &conv->inputs[1]->type;
    const struct type *y = &conv->outputs[0]->type;
    const struct conv_attrs *attrs = &conv->attrs.conv;
    const int n = attrs->padding.n / 2;

    *padding = attrs->padding;
    if (slice->size.at[0] != y->dim[0] || slice->size.at[1] != y->dim[1])
        return false;
    for (int i = 0; i < n; i++) {
        const int64_t stride = attrs->strides.at[i], size = slice->size.at[2 + i];
        const int64_t covered = (w->dim[2 + i] - 1) * attrs->dilation.at[i] + 1;
        const int64_t before = attrs->padding.at[i] - slice->begin.at[2 + i] * stride;
        const int64_t after = (size - 1) * stride + covered - before - x->dim[2 + i];

        if (before < 0 || after <= -stride || size < 1)
            return false;
        padding->at[i] = before;
        padding->at[n + i] = after < 0 ? 0 : after;
    }
    return true;
}

/* strided_slice(conv(x)) -> conv(x) with less padding, also with a bias between: PyTorch pads on
 * both sides, and causal networks cut off what has seen the future. */
struct value *slice_into_conv(struct rewrite *rewrite, struct node *root)
{
    const struct node *bias = only_defined_by(root->inputs[0], OP_BIAS_ADD);
    const struct value *sum = bias ? bias->inputs[0] : root->inputs[0];
    const struct node *conv = value_only_user(sum) ? sum->def : NULL;
    union attrs attrs;
    struct value *y;

    if (!conv || (conv->op != OP_CONV1D && conv->op != OP_CONV2D && conv->op != OP_CONV3D) ||
        !str_starts(conv->attrs.conv.data_layout, "NC") || !all_one(&root->attrs.slice.strides))
        return NULL;
    attrs = conv->attrs;
    if (!sliced_padding(&root->attrs.slice, conv, &attrs.conv.padding))
        return NULL;
    rule_covers(rewrite, conv);
    if (bias)
        rule_covers(rewrite, bias);
    y = rule_build2(rewrite, conv->op, &attrs, conv->inputs[0], conv->inputs[1]);
    return bias ? rule_build2(rewrite, OP_BIAS_ADD, &bias->attrs, y, bias->inputs[1]) : y;
}

/* pad_into_conv for qnn.conv, which pads with the zero point of x. */
struct value *pad_into_qnn_conv(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = defined_by(root->inputs[0], OP_PAD);
    union attrs attrs = root->attrs;
    double zero;

    if (!pad || layout_is_last(attrs.conv.data_layout) || !value_uniform(root->inputs[2], &zero) ||
        !joined_padding(pad, zero, &root->attrs.conv.padding, &attrs.conv.padding))
        return NULL;
    rule_covers(rewrite, pad);
    return rule_build(
        rewrite, root->op, &attrs, 4,
        (struct value *[]){ pad->inputs[0], root->inputs[1], root->inputs[2], root->inputs[3] });
}

static struct ints permuted(const struct ints *ints, const struct ints *axes)
{
    struct ints to = { .n = axes->n };

    for (int i = 0; i < axes->n; i++)
        to.at[i] = ints->at[axes->at[i]];
    return to;
}

/* transpose(pad(x)) -> pad(transpose(x)): so exporters of networks with the channels last write the
 * padding of a convolution, which can take it only when it stands beside it. */
struct value *pad_behind_transpose(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = only_defined_by(root->inputs[0], OP_PAD);
    const struct ints *axes = &root->attrs.axes.axes;
    union attrs attrs;

    if (!pad)
        return NULL;
    attrs = pad->attrs;
    attrs.pad.pad_before = permuted(&pad->attrs.pad.pad_before, axes);
    attrs.pad.pad_after = permuted(&pad->attrs.pad.pad_after, axes);
    rule_covers(rewrite, pad);
    return rule_build1(rewrite, OP_PAD, &attrs,
                       rule_build1(rewrite, OP_TRANSPOSE, &root->attrs, pad->inputs[0]));
}

/* reshape(pad(x)) -> pad(reshape(x)), where the reshape adds dims of 1: likewise of networks that
 * were written over time. */
struct value *pad_behind_reshape(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = only_defined_by(root->inputs[0], OP_PAD);
    struct type type = root->outputs[0]->type;
    union attrs attrs;
    int i = 0;

    if (!pad)
        return NULL;
    attrs = pad->attrs;
    attrs.pad.pad_before.n = attrs.pad.pad_after.n = type.rank;
    for (int j = 0; j < type.rank; j++) {
        const bool same =
            i < root->inputs[0]->type.rank && type.dim[j] == root->inputs[0]->type.dim[i];

        if (!same && type.dim[j] != 1)
            return NULL;
        attrs.pad.pad_before.at[j] = same ? pad->attrs.pad.pad_before.at[i] : 0;
        attrs.pad.pad_after.at[j] = same ? pad->attrs.pad.pad_after.at[i] : 0;
        type.dim[j] -= attrs.pad.pad_before.at[j] + attrs.pad.pad_after.at[j];
        i += same;
    }
    if (i < root->inputs[0]->type.rank)
        return NULL;
    rule_covers(rewrite, pad);
    return rule_build1(rewrite, OP_PAD, &attrs, rule_reshape(rewrite, pad->inputs[0], &type));
}

/* Whether every window holds some element of the input: pools want that of their padding. */
static bool fits_windows(const struct pool_attrs *pool)
{
    const int n = pool->pool_size.n;

    for (int i = 0; i < n; i++) {
        const int64_t covered =
            (pool->pool_size.at[i] - 1) * (pool->dilation.n ? pool->dilation.at[i] : 1) + 1;

        if (pool->padding.at[i] >= covered || pool->padding.at[n + i] >= covered)
            return false;
    }
    return true;
}

/* avg_pool(pad(x, 0)) -> avg_pool(x) that counts the padding. Its own padding must be counted as
 * well, or be none; with ceil_mode the window over the edge would change its divisor. */
struct value *pad_into_average_pool(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = defined_by(root->inputs[0], OP_PAD);
    const struct pool_attrs *pool = &root->attrs.pool;
    union attrs attrs = root->attrs;

    if (!pad || pool->ceil_mode || !str_starts(pool->layout, "NC") ||
        !(pool->count_include_pad || all_zero(pool->padding.at, pool->padding.n)) ||
        !joined_padding(pad, 0, &pool->padding, &attrs.pool.padding) || !fits_windows(&attrs.pool))
        return NULL;
    attrs.pool.count_include_pad = true;
    rule_covers(rewrite, pad);
    return rule_build1(rewrite, root->op, &attrs, pad->inputs[0]);
}

static bool is_never_negative(const struct value *value)
{
    const enum op op = value->def ? value->def->op : OP_COUNT;

    return op == OP_RELU || op == OP_SIGMOID || op == OP_ABS || op == OP_EXP ||
           op == OP_HARD_SIGMOID || op == OP_SOFTMAX ||
           (op == OP_CLIP && value->def->attrs.clip.a_min >= 0 &&
            value->def->attrs.clip.a_max >= 0);
}

/* max_pool(pad(x, 0)) -> max_pool(x) with more padding, where x >= 0: then a zero is as good as the
 * minus infinity of the pool's own padding. A dilated window might step over all of x. */
struct value *pad_into_max_pool(struct rewrite *rewrite, struct node *root)
{
    const struct node *pad = defined_by(root->inputs[0], OP_PAD);
    const struct pool_attrs *pool = &root->attrs.pool;
    union attrs attrs = root->attrs;

    if (!pad || pool->ceil_mode || !str_starts(pool->layout, "NC") ||
        !is_never_negative(pad->inputs[0]) ||
        !joined_padding(pad, 0, &pool->padding, &attrs.pool.padding) ||
        !fits_windows(&attrs.pool) || !all_one(&pool->dilation))
        return NULL;
    rule_covers(rewrite, pad);
    return rule_build1(rewrite, root->op, &attrs, pad->inputs[0]);
}

/* mean, max over all spatial dims -> nn.global_avg_pool, nn.global_max_pool, and a view where the
 * dims are not kept */
struct value *reduction_to_global_pool(struct rewrite *rewrite, struct node *root)
{
    const struct type *in = &root->inputs[0]->type;
    const struct ints *axes = &root->attrs.reduce.axis;
    struct value *y;
    unsigned set = 0;

    if (in->rank < 3 || in->rank > 5 || !dtype_is_float(in->dtype))
        return NULL;
    for (int i = 0; i < axes->n; i++)
        set |= 1U << (type_axis(in, axes->at[i]) & 31);
    if (set != (1U << in->rank) - 4)
        return NULL;
    y = rule_build1(rewrite, root->op == OP_MEAN ? OP_GLOBAL_AVG_POOL : OP_GLOBAL_MAX_POOL, NULL,
                    root->inputs[0]);
    if (!y || root->attrs.reduce.keepdims)
        return y;
    return rule_reshape(rewrite, y, &root->outputs[0]->type);
}

/* pooling with one window, which is the whole input -> global pooling */
struct value *pool_to_global_pool(struct rewrite *rewrite, struct node *root)
{
    const struct type *in = &root->inputs[0]->type, *out = &root->outputs[0]->type;
    const struct pool_attrs *pool = &root->attrs.pool;
    const bool is_max =
        root->op == OP_MAX_POOL1D || root->op == OP_MAX_POOL2D || root->op == OP_MAX_POOL3D;

    if (!dtype_is_float(in->dtype) || !str_starts(pool->layout, "NC") ||
        !all_zero(pool->padding.at, pool->padding.n))
        return NULL;
    for (int i = 0; i < pool->pool_size.n; i++)
        if (pool->pool_size.at[i] != in->dim[2 + i] || out->dim[2 + i] != 1 ||
            (pool->dilation.n && pool->dilation.at[i] != 1))
            return NULL;
    return rule_build1(rewrite, is_max ? OP_GLOBAL_MAX_POOL : OP_GLOBAL_AVG_POOL, NULL,
                       root->inputs[0]);
}
