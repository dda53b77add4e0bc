/* parallel_conv.c - convolutions of one x that are added become one convolution: networks are
 * trained with such branches (RepVGG, MobileOne, FastViT), which their authors merge before they
 * deploy them.
 *
 * method   a branch is a convolution, or x times a constant per channel, which is one of a single
 *          tap; either with a bias. The weights of one are added to those taps of the other that
 *          lie over the same elements of x; in double, rounded once */
#include <string.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/rules.h"

struct branch {
    struct value *x;
    struct node *conv;   /* NULL: x times `scale` */
    struct value *scale; /* one number, or one per channel */
    struct value *bias;  /* likewise; NULL = none */
};

static bool is_conv(const struct node *node)
{
    return node->op == OP_CONV1D || node->op == OP_CONV2D || node->op == OP_CONV3D;
}

static bool is_per_channel(const struct value *value, const struct type *shape)
{
    return value->kind == VALUE_CONSTANT && value->type.dtype == shape->dtype &&
           is_per_axis(&value->type, shape, 1);
}

/* What nobody but the sum reads: a branch, whose nodes the root then covers. */
static bool branch_of(struct rewrite *rewrite, const struct value *value, struct branch *branch)
{
    struct node *node = value_only_user(value) ? value->def : NULL;

    *branch = (struct branch){ 0 };
    if (node && node->n_inputs == 2 &&
        ((node->op == OP_BIAS_ADD && type_axis(&value->type, node->attrs.axis.axis) == 1 &&
          node->inputs[1]->kind == VALUE_CONSTANT) ||
         (node->op == OP_ADD && is_per_channel(node->inputs[1], &value->type)))) {
        branch->bias = node->inputs[1];
        rule_covers(rewrite, node);
        node = value_only_user(node->inputs[0]) ? node->inputs[0]->def : NULL;
    }
    if (!node || !type_same_storage(&value->type, &node->outputs[0]->type))
        return false;
    rule_covers(rewrite, node);
    branch->x = node->inputs[0];
    if (node->op == OP_MULTIPLY) {
        branch->scale = node->inputs[1];
        return is_per_channel(branch->scale, &value->type) &&
               type_same_storage(&branch->x->type, &value->type);
    }
    branch->conv = node;
    return is_conv(node) && node->inputs[1]->kind == VALUE_CONSTANT &&
           node->inputs[1]->type.dtype == value->type.dtype &&
           !layout_is_last(node->attrs.conv.data_layout) &&
           !layout_is_last(node->attrs.conv.out_layout);
}

static bool same_ints(const struct ints *a, const struct ints *b)
{
    for (int i = 0; i < a->n; i++)
        if (a->at[i] != b->at[i])
            return false;
    return true;
}

/* The tap of `wide` over which the first one of `narrow` lies, in each spatial dim; false if some
 * tap of it lies over none. */
static bool find_taps(const struct branch *wide, const struct branch *narrow, int64_t first[3])
{
    const struct conv_attrs *w = &wide->conv->attrs.conv;
    const struct type *of_wide = &wide->conv->inputs[1]->type;

    for (int i = 0; i < w->strides.n; i++) {
        const struct conv_attrs *n = narrow->conv ? &narrow->conv->attrs.conv : NULL;
        const int64_t taps = n ? narrow->conv->inputs[1]->type.dim[2 + i] : 1;
        const int64_t shift = w->padding.at[i] - (n ? n->padding.at[i] : 0);

        first[i] = shift / w->dilation.at[i];
        if (shift < 0 || shift % w->dilation.at[i] || first[i] + taps > of_wide->dim[2 + i] ||
            (taps > 1 && n->dilation.at[i] != w->dilation.at[i]) ||
            (n ? n->strides.at[i] : 1) != w->strides.at[i])
            return false;
    }
    return true;
}

static bool can_join(const struct branch *wide, const struct branch *narrow, int64_t first[3])
{
    const struct conv_attrs *w;

    if (!wide->conv || wide->x != narrow->x)
        return false;
    w = &wide->conv->attrs.conv;
    if (!narrow->conv)
        return find_taps(wide, narrow, first);
    return narrow->conv->attrs.conv.groups == w->groups &&
           same_ints(&narrow->conv->attrs.conv.strides, &w->strides) &&
           find_taps(wide, narrow, first);
}

static double number_of(const struct value *value, int64_t channel)
{
    return dtype_load(value->type.dtype, value->data,
                      type_elements(&value->type) == 1 ? 0 : channel);
}

/* The index of tap `tap` of `narrow`, of [o, i, taps ...], in the weight of the other. */
static int64_t place_of_tap(const struct type *wide, const struct type *narrow,
                            const int64_t first[3], int64_t tap)
{
    int64_t place = 0, step = 1;

    for (int i = wide->rank - 1; i >= 2; i--) {
        const int64_t taps = narrow ? narrow->dim[i] : 1;

        place += (first[i - 2] + tap % taps) * step;
        tap /= taps;
        step *= wide->dim[i];
    }
    return place;
}

/* The weight of `wide` with that of `narrow` added. */
static struct value *joined_weight(struct rewrite *rewrite, const struct branch *wide,
                                   const struct branch *narrow, const int64_t first[3])
{
    struct value *weight = wide->conv->inputs[1];
    const struct type *type = &weight->type;
    const struct value *other = narrow->conv ? narrow->conv->inputs[1] : NULL;
    const int64_t taps = type_span(type, 2, type->rank);
    const int64_t n = other ? type_span(&other->type, 2, type->rank) : 1;
    void *data = constant_alloc(rewrite->fn, type);

    memcpy(data, weight->data, type_bytes(type));
    for (int64_t o = 0; o < type->dim[0]; o++)
        for (int64_t i = 0; i < type->dim[1]; i++)
            for (int64_t tap = 0; tap < n; tap++) {
                const int64_t block = o * type->dim[1] + i;
                const int64_t at =
                    block * taps + place_of_tap(type, other ? &other->type : NULL, first, tap);
                const double more = other ? dtype_load(type->dtype, other->data, block * n + tap)
                                    : o % type->dim[1] == i ? number_of(narrow->scale, o)
                                                            : 0;

                dtype_store(type->dtype, data, at,
                            dtype_load(type->dtype, weight->data, at) + more);
            }
    return rule_constant_like(rewrite, weight, type, data);
}

/* The sum of both biases, one number per channel; NULL if there is none. */
static struct value *joined_bias(struct rewrite *rewrite, const struct branch *a,
                                 const struct branch *b, const struct type *y)
{
    struct value *like = a->bias ? a->bias : b->bias;
    const struct type type = type_make(y->dtype, 1, &y->dim[1]);
    void *data;

    if (!like)
        return NULL;
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t c = 0; c < y->dim[1]; c++)
        dtype_store(y->dtype, data, c,
                    (a->bias ? number_of(a->bias, c) : 0) + (b->bias ? number_of(b->bias, c) : 0));
    return rule_constant_like(rewrite, like, &type, data);
}

/* conv(x, v) + conv(x, w) -> conv(x, v + w), conv(x, w) + x * c -> conv(x, w + c); also with biases
 */
struct value *join_parallel_convs(struct rewrite *rewrite, struct node *root)
{
    const union attrs channels = { .axis = { .axis = 1 } };
    struct branch branches[2];
    int64_t first[3];

    if (!dtype_is_float(root->outputs[0]->type.dtype) ||
        !type_same_storage(&root->inputs[0]->type, &root->inputs[1]->type) ||
        !branch_of(rewrite, root->inputs[0], &branches[0]) ||
        !branch_of(rewrite, root->inputs[1], &branches[1]))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct branch *wide = &branches[i], *narrow = &branches[1 - i];
        struct value *weight, *bias, *y;

        if (!can_join(wide, narrow, first))
            continue;
        weight = joined_weight(rewrite, wide, narrow, first);
        bias = joined_bias(rewrite, wide, narrow, &root->outputs[0]->type);
        y = rule_build2(rewrite, wide->conv->op, &wide->conv->attrs, wide->x, weight);
        return bias ? rule_build2(rewrite, OP_BIAS_ADD, &channels, y, bias) : y;
    }
    return NULL;
}
