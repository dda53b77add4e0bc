/* fold_scale_axis.c - constant scales and shifts per channel go into weights and biases.
 *
 * needs    types; batch norms as multiply and add, constants on the right
 * gives    no multiply or add beside a convolution or dense that its weights can hold, nor another
 *          convolution of the same x
 * method   rules; new weights are computed in double and rounded once. A scale moves past relu and
 *          maximum only if it is positive; a shift moves forward only past an unpadded operator,
 *          because the zeros of the padding are not shifted */
#include "relay_ir/passes/pipeline.h"

#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/rules.h"

enum { MAX_CHAIN = 6 };

/* How the weight of a linear operator is laid out: [first, second, taps]. */
struct linear {
    int64_t out_c, in_c, groups, taps;
    bool in_first; /* [in_c, out_c / groups, taps], else [out_c, in_c / groups, taps] */
    bool padded;   /* reads zeros beside x */
};

static bool has_padding(const struct ints *padding)
{
    for (int i = 0; i < padding->n; i++)
        if (padding->at[i] != 0)
            return true;
    return false;
}

/* False when the node is no linear operator with a constant float weight. */
static bool linear_of(const struct node *node, struct linear *linear)
{
    const struct value *weight = node->n_inputs == 2 ? node->inputs[1] : NULL;

    /* Weights that are stored small have their scale behind the operator, and keep it there. */
    if (!weight || weight->kind != VALUE_CONSTANT || !dtype_is_float(weight->type.dtype) ||
        weight->type.dtype != node->outputs[0]->type.dtype)
        return false;
    *linear = (struct linear){ .groups = 1, .taps = 1 };
    switch (node->op) {
    case OP_DENSE: /* of more dims its channels would not be those of axis 1 */
        if (node->inputs[0]->type.rank != 2)
            return false;
        break;
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
        linear->groups = node->attrs.conv.groups;
        linear->padded = has_padding(&node->attrs.conv.padding);
        if (layout_is_last(node->attrs.conv.data_layout) ||
            layout_is_last(node->attrs.conv.out_layout))
            return false;
        break;
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
        linear->groups = node->attrs.conv_transpose.groups;
        linear->in_first = true;
        linear->padded = true; /* an output at the edge sees fewer inputs than one in the middle */
        if (!str_starts(node->attrs.conv_transpose.data_layout, "NC"))
            return false;
        break;
    default: return false;
    }
    linear->out_c = node->outputs[0]->type.dim[1];
    linear->in_c = node->inputs[0]->type.dim[1];
    linear->taps = type_span(&weight->type, 2, weight->type.rank);
    return linear->taps > 0 && linear->in_c > 0 && linear->out_c > 0;
}

/* Channels that tap block `block` of the weight connects: its elements are [block, taps]. */
static void channels_of(const struct linear *linear, int64_t block, int64_t *in, int64_t *out)
{
    const int64_t in_group = linear->in_c / linear->groups;
    const int64_t out_group = linear->out_c / linear->groups;
    const int64_t second = linear->in_first ? out_group : in_group;
    const int64_t i = block / second, j = block % second;

    *in = linear->in_first ? i : i / out_group * in_group + j;
    *out = linear->in_first ? i / in_group * out_group + j : i;
}

/* A constant operand as one number per channel. */
struct per_channel {
    const struct value *value;
    bool inverse; /* 1 / number */
};

static double channel_number(const struct per_channel *c, int64_t channel)
{
    const int64_t at = type_elements(&c->value->type) == 1 ? 0 : channel;
    const double number = dtype_load(c->value->type.dtype, c->value->data, at);

    return c->inverse ? 1 / number : number;
}

static bool per_channel_of(const struct node *root, struct per_channel *c)
{
    *c = (struct per_channel){ root->inputs[1], root->op == OP_DIVIDE };
    return c->value->kind == VALUE_CONSTANT && dtype_is_float(c->value->type.dtype) &&
           type_equal(&root->inputs[0]->type, &root->outputs[0]->type) &&
           is_per_axis(&c->value->type, &root->outputs[0]->type, 1);
}

/* Whether all numbers are finite, and positive if asked for. */
static bool numbers_are(const struct per_channel *c, bool positive)
{
    for (int64_t i = 0; i < type_elements(&c->value->type); i++) {
        const double number = channel_number(c, i);

        if (!isfinite(number) || (positive && number <= 0))
            return false;
    }
    return true;
}

/* to[i] = from[i] * factor for n elements from `first` on; false when a finite one overflows.
 * Weights are the bulk of a model, so f32 has a loop of its own. */
static bool scale_block(enum dtype dtype, const void *from, void *to, int64_t first, int64_t n,
                        double factor)
{
    if (dtype == DTYPE_F32) {
        const float *x = from;
        float *y = to;

        for (int64_t i = first; i < first + n; i++) {
            y[i] = (float)((double)x[i] * factor);
            if (isfinite(x[i]) && !isfinite(y[i]))
                return false;
        }
        return true;
    }
    for (int64_t i = first; i < first + n; i++) {
        const double old = dtype_load(dtype, from, i);

        dtype_store(dtype, to, i, old * factor);
        if (isfinite(old) && !isfinite(dtype_load(dtype, to, i)))
            return false;
    }
    return true;
}

/* The weight times the scale of its output (or input) channels. NULL if a number overflows. */
static struct value *scaled_weight(struct rewrite *rewrite, struct value *weight,
                                   const struct linear *linear, const struct per_channel *c,
                                   bool by_input)
{
    const struct type *type = &weight->type;
    void *data = constant_alloc(rewrite->fn, type);

    for (int64_t block = 0; block < type_elements(type) / linear->taps; block++) {
        int64_t in, out;

        channels_of(linear, block, &in, &out);
        if (!scale_block(type->dtype, weight->data, data, block * linear->taps, linear->taps,
                         channel_number(c, by_input ? in : out)))
            return NULL;
    }
    return rule_constant_like(rewrite, weight, type, data);
}

static struct value *scaled_bias(struct rewrite *rewrite, struct value *bias,
                                 const struct per_channel *c)
{
    void *data = constant_alloc(rewrite->fn, &bias->type);

    for (int64_t i = 0; i < bias->type.dim[0]; i++)
        dtype_store(bias->type.dtype, data, i,
                    dtype_load(bias->type.dtype, bias->data, i) * channel_number(c, i));
    return rule_constant_like(rewrite, bias, &bias->type, data);
}

/* Through which operators a scale may move towards the weights. */
enum passage { CLOSED, OPEN, OPEN_IF_POSITIVE, OPEN_IF_UNIFORM };

static const enum passage passages[OP_COUNT] = {
    [OP_AVG_POOL1D] = OPEN,
    [OP_AVG_POOL2D] = OPEN,
    [OP_AVG_POOL3D] = OPEN,
    [OP_GLOBAL_AVG_POOL] = OPEN,
    [OP_GLOBAL_MAX_POOL] = OPEN_IF_POSITIVE,
    [OP_LEAKY_RELU] = OPEN_IF_POSITIVE,
    [OP_MAX_POOL1D] = OPEN_IF_POSITIVE,
    [OP_MAX_POOL2D] = OPEN_IF_POSITIVE,
    [OP_MAX_POOL3D] = OPEN_IF_POSITIVE,
    [OP_RELU] = OPEN_IF_POSITIVE,
    [OP_RESHAPE] = OPEN_IF_UNIFORM,
    [OP_TRANSPOSE] = OPEN_IF_UNIFORM,
};

static bool is_open(const struct node *node, const struct per_channel *c)
{
    if (layout_is_last(node_layout(node)))
        return false;
    switch (passages[node->op]) {
    case OPEN: return true;
    case OPEN_IF_POSITIVE: return numbers_are(c, true);
    case OPEN_IF_UNIFORM: return type_elements(&c->value->type) == 1;
    default: return false;
    }
}

/* Whether the scale can be folded into what computes the value, which nobody else may read. */
static bool can_scale(const struct value *value, const struct per_channel *c)
{
    struct linear linear;

    for (int i = 0; i < MAX_CHAIN && value->def && value_only_user(value); i++) {
        const struct node *node = value->def;
        const bool bias = node->op == OP_BIAS_ADD && node->inputs[1]->kind == VALUE_CONSTANT &&
                          type_axis(&value->type, node->attrs.axis.axis) == 1;

        if (linear_of(node, &linear))
            return type_elements(&c->value->type) == 1 ||
                   type_elements(&c->value->type) == linear.out_c;
        if (!bias && !is_open(node, c))
            return false;
        value = node->inputs[0];
    }
    return false;
}

/* Computes the value again, scaled; can_scale has been asked. */
static struct value *scale_value(struct rewrite *rewrite, const struct value *value,
                                 const struct per_channel *c)
{
    const struct node *node = value->def;
    struct linear linear;
    struct value *inputs[2] = { NULL };

    if (linear_of(node, &linear)) {
        inputs[0] = node->inputs[0];
        inputs[1] = scaled_weight(rewrite, node->inputs[1], &linear, c, false);
        return inputs[1] ? rule_rebuild(rewrite, node, inputs) : NULL;
    }
    inputs[0] = scale_value(rewrite, node->inputs[0], c);
    if (!inputs[0])
        return NULL;
    if (node->op == OP_BIAS_ADD)
        inputs[1] = scaled_bias(rewrite, node->inputs[1], c);
    return rule_rebuild(rewrite, node, inputs);
}

/* linear(x, w) * c -> linear(x, w c), also with a bias and through passages */
static struct value *scale_into_weight(struct rewrite *rewrite, struct node *root)
{
    struct per_channel c;
    struct value *y;

    if (!per_channel_of(root, &c) || !numbers_are(&c, false) || !can_scale(root->inputs[0], &c))
        return NULL;
    y = scale_value(rewrite, root->inputs[0], &c);
    if (y)
        y->def->origin = origin_join(rewrite->fn->module, y->def->origin, root->origin);
    return y;
}

/* linear(x * c, w) -> linear(x, c w): zeros of the padding stay zeros */
static struct value *scale_from_input(struct rewrite *rewrite, struct node *root)
{
    struct node *multiply = value_only_user(root->inputs[0]) ? root->inputs[0]->def : NULL;
    struct per_channel c;
    struct linear linear;
    struct value *weight;

    if (!multiply || (multiply->op != OP_MULTIPLY && multiply->op != OP_DIVIDE) ||
        !linear_of(root, &linear) || !per_channel_of(multiply, &c) || !numbers_are(&c, false))
        return NULL;
    weight = scaled_weight(rewrite, root->inputs[1], &linear, &c, true);
    rule_covers(rewrite, multiply);
    return rule_build2(rewrite, root->op, &root->attrs, multiply->inputs[0], weight);
}

/* linear(x + s, w) -> linear(x, w) + linear(s, w), for operators without padding */
static struct value *shift_from_input(struct rewrite *rewrite, struct node *root)
{
    struct node *add = value_only_user(root->inputs[0]) ? root->inputs[0]->def : NULL;
    const union attrs channels = { .axis = { .axis = 1 } };
    struct per_channel s;
    struct linear linear;
    struct type type;
    double *sums;
    void *data;

    if (!add || add->op != OP_ADD || !linear_of(root, &linear) || linear.padded ||
        !per_channel_of(add, &s) || !numbers_are(&s, false))
        return NULL;
    type = type_make(root->outputs[0]->type.dtype, 1, &linear.out_c);
    sums = arena_array(&rewrite->ctx->scratch, double, linear.out_c);
    for (int64_t i = 0; i < type_elements(&root->inputs[1]->type); i++) {
        int64_t in, out;

        channels_of(&linear, i / linear.taps, &in, &out);
        sums[out] += dtype_load(root->inputs[1]->type.dtype, root->inputs[1]->data, i) *
                     channel_number(&s, in);
    }
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < linear.out_c; i++)
        dtype_store(type.dtype, data, i, sums[i]);
    rule_covers(rewrite, add);
    return rule_build2(
        rewrite, OP_BIAS_ADD, &channels,
        rule_build2(rewrite, root->op, &root->attrs, add->inputs[0], root->inputs[1]),
        rule_constant_like(rewrite, add->inputs[1], &type, data));
}

static const struct rule rules[] = {
    { "scale_into_weight", scale_into_weight, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "join_parallel_convs", join_parallel_convs, ROOTS(OP_ADD) },
    { "merge_biases", merge_biases, ROOTS(OP_ADD, OP_BIAS_ADD) },
    { "add_to_bias", add_to_bias, ROOTS(OP_ADD) },
    { "scale_from_input", scale_from_input,
      ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D, OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE,
            OP_CONV3D_TRANSPOSE, OP_DENSE) },
    { "shift_from_input", shift_from_input, ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D, OP_DENSE) },
};

bool pass_fold_scale_axis(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *fold_scale_axis_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
