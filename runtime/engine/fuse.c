/* fuse.c - which element-wise nodes oneDNN can do, and which can be done with the node before. */
#include "runtime/engine/primitive.h"

#include <string.h>

#include "relay_ir/layout.h"

static const struct {
    enum op op;
    struct eltwise eltwise;
} fixed[] = {
    { OP_ABS, { 1, { { dnnl_eltwise_abs, 1, 0, 0 } } } },
    { OP_EXP, { 1, { { dnnl_eltwise_exp, 1, 0, 0 } } } },
    { OP_HARD_SWISH, { 1, { { dnnl_eltwise_hardswish, 1, 0, 0 } } } },
    { OP_LOG, { 1, { { dnnl_eltwise_log, 1, 0, 0 } } } },
    { OP_MISH, { 1, { { dnnl_eltwise_mish, 1, 0, 0 } } } },
    { OP_NEGATIVE, { 1, { { dnnl_eltwise_linear, 1, -1, 0 } } } },
    { OP_RECIPROCAL, { 1, { { dnnl_eltwise_pow, 1, 1, -1 } } } },
    { OP_RELU, { 1, { { dnnl_eltwise_relu, 1, 0, 0 } } } },
    { OP_ROUND, { 1, { { dnnl_eltwise_round, 1, 0, 0 } } } },
    { OP_RSQRT, { 2, { { dnnl_eltwise_sqrt, 1, 0, 0 }, { dnnl_eltwise_pow, 1, 1, -1 } } } },
    { OP_SIGMOID, { 1, { { dnnl_eltwise_logistic, 1, 0, 0 } } } },
    { OP_SILU, { 1, { { dnnl_eltwise_swish, 1, 1, 0 } } } },
    { OP_SOFTPLUS, { 1, { { dnnl_eltwise_soft_relu, 1, 0, 0 } } } },
    { OP_SQRT, { 1, { { dnnl_eltwise_sqrt, 1, 0, 0 } } } },
    { OP_TANH, { 1, { { dnnl_eltwise_tanh, 1, 0, 0 } } } },
};

static struct eltwise one(dnnl_alg_kind_t algorithm, double scale, double alpha, double beta)
{
    return (struct eltwise){ 1, { { algorithm, (float)scale, (float)alpha, (float)beta } } };
}

/* x to a power that is the same number everywhere. */
static struct eltwise power_of(const struct node *node)
{
    double exponent;

    if (!value_uniform(node->inputs[1], &exponent) ||
        !type_same_shape(&node->inputs[0]->type, &node->outputs[0]->type))
        return (struct eltwise){ 0 };
    return exponent == 2 ? one(dnnl_eltwise_square, 1, 0, 0)
                         : one(dnnl_eltwise_pow, 1, 1, exponent);
}

struct eltwise eltwise_of(const struct node *node)
{
    const struct alpha_beta_attrs *ab = &node->attrs.alpha_beta;
    struct eltwise two;

    switch (node->op) {
    case OP_CLIP: return one(dnnl_eltwise_clip, 1, node->attrs.clip.a_min, node->attrs.clip.a_max);
    case OP_ELU: return one(dnnl_eltwise_elu, 1, ab->alpha, 0);
    case OP_SELU: return one(dnnl_eltwise_elu, ab->beta, ab->alpha, 0);
    case OP_LEAKY_RELU: return one(dnnl_eltwise_relu, 1, ab->alpha, 0);
    case OP_HARD_SIGMOID:
        two = one(dnnl_eltwise_linear, 1, ab->alpha, ab->beta);
        two.at[two.n++] = one(dnnl_eltwise_clip, 1, 0, 1).at[0];
        return two;
    case OP_CELU: /* alpha * elu(x / alpha) */
        if (!(ab->alpha > 0))
            return (struct eltwise){ 0 };
        two = one(dnnl_eltwise_linear, 1, 1 / ab->alpha, 0);
        two.at[two.n++] = one(dnnl_eltwise_elu, ab->alpha, 1, 0).at[0];
        return two;
    case OP_GELU:
        return one(strcmp(node->attrs.gelu.approximate, "tanh") == 0 ? dnnl_eltwise_gelu_tanh
                                                                     : dnnl_eltwise_gelu_erf,
                   1, 0, 0);
    case OP_POWER: return power_of(node);
    default: break;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].op == node->op)
            return fixed[i].eltwise;
    return (struct eltwise){ 0 };
}

dnnl_alg_kind_t binary_of(enum op op)
{
    static const struct {
        enum op op;
        dnnl_alg_kind_t algorithm;
    } table[] = {
        { OP_ADD, dnnl_binary_add },      { OP_BIAS_ADD, dnnl_binary_add },
        { OP_DIVIDE, dnnl_binary_div },   { OP_EQUAL, dnnl_binary_eq },
        { OP_GREATER, dnnl_binary_gt },   { OP_GREATER_EQUAL, dnnl_binary_ge },
        { OP_LESS, dnnl_binary_lt },      { OP_LESS_EQUAL, dnnl_binary_le },
        { OP_MAXIMUM, dnnl_binary_max },  { OP_MINIMUM, dnnl_binary_min },
        { OP_MULTIPLY, dnnl_binary_mul }, { OP_NOT_EQUAL, dnnl_binary_ne },
        { OP_SUBTRACT, dnnl_binary_sub },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op)
            return table[i].algorithm;
    return dnnl_alg_kind_undef;
}

void broadcast_dims(const struct node *node, int input, int64_t *dims)
{
    const struct type *out = &node->outputs[0]->type, *in = &node->inputs[input]->type;
    int axis = node->op == OP_BIAS_ADD ? type_axis(out, node->attrs.axis.axis) : -1;

    dims[0] = 1; /* a scalar result */
    for (int i = 0; i < out->rank; i++)
        dims[i] = 1;
    if (axis >= 0 && input == 1)
        dims[axis] = in->dim[0];
    else
        for (int i = 0; i < in->rank; i++)
            dims[out->rank - in->rank + i] = in->dim[i];
}

static const struct value *result_before(const struct chain *chain, const struct node *first,
                                         int index)
{
    return index == 0 ? first->outputs[0] : chain->nodes[index - 1]->outputs[0];
}

const struct value *chain_operand(const struct chain *chain, const struct node *first, int index)
{
    const struct node *node = chain->nodes[index];

    return node->inputs[node->inputs[0] == result_before(chain, first, index) ? 1 : 0];
}

bool chain_has_bias(const struct chain *chain, const struct node *first, enum fusing fusing)
{
    const struct node *node = chain->nodes[0];
    int64_t dims[MAX_RANK];
    int axis, rank;

    if (chain->n == 0 || (fusing != FUSE_BIAS_CHANNEL && fusing != FUSE_BIAS_LAST) ||
        (node->op != OP_ADD && node->op != OP_BIAS_ADD))
        return false;
    rank = node->outputs[0]->type.rank;
    axis = fusing == FUSE_BIAS_LAST ? rank - 1 : layout_channel_axis(node_out_layout(first), rank);
    if (rank < 2)
        return false;
    broadcast_dims(node, node->inputs[0] == first->outputs[0] ? 1 : 0, dims);
    for (int i = 0; i < rank; i++)
        if (dims[i] != (i == axis ? node->outputs[0]->type.dim[i] : 1))
            return false;
    return true;
}

/* Whether oneDNN 2.6 reads the right elements of a fused binary node's other operand: behind
 * primitives that are no product it takes a vector along the channels for one number where the map
 * has one pixel. */
static bool is_read_right(enum fusing fusing, const struct value *other, const struct value *result)
{
    return fusing != FUSE_POST_OPS || type_same_shape(&other->type, &result->type) ||
           type_elements(&other->type) == 1;
}

/* Whether `node`, the only reader of `value`, can be done to it at once. */
static bool may_follow(const struct frame *frame, const struct node *node, enum fusing fusing,
                       const struct value *value)
{
    bool commutes = node->op == OP_ADD || node->op == OP_MULTIPLY || node->op == OP_MAXIMUM ||
                    node->op == OP_MINIMUM;
    const char *why;
    const struct value *other;

    if (!op_is_elementwise(node->op) || !node_is_plain_f32(node, &why) ||
        !type_same_shape(&node->outputs[0]->type, &value->type))
        return false;
    if (eltwise_of(node).n > 0)
        return node->inputs[0] == value;
    if (binary_of(node->op) == dnnl_alg_kind_undef || node->n_inputs != 2)
        return false;
    other = node->inputs[node->inputs[0] == value ? 1 : 0];
    return frame->slots[other->id] && (commutes || node->inputs[0] == value) &&
           is_read_right(fusing, other, value);
}

/* Element-wise functions behind a primitive. */
struct post_ops {
    int n;
    struct post_op at[MAX_CHAIN * MAX_ELTWISE + MAX_ELTWISE];
};

/* Adds those of `more` from its `first` one, or returns false where one was there with other numbers: oneDNN 2.6
 * generates an algorithm once for all post-ops of a primitive, with the first one's alpha and beta. */
static bool post_ops_add(struct post_ops *ops, const struct eltwise *more, int first)
{
    for (int i = first; i < more->n; i++) {
        const struct post_op *op = &more->at[i];

        for (int k = 0; k < ops->n; k++)
            if (ops->at[k].algorithm == op->algorithm &&
                (ops->at[k].scale != op->scale || ops->at[k].alpha != op->alpha ||
                 ops->at[k].beta != op->beta))
                return false;
        ops->at[ops->n++] = *op;
    }
    return true;
}

/* What eltwise_prepare puts behind the node's own function. */
static struct post_ops own_post_ops(const struct node *node)
{
    const struct eltwise own = eltwise_of(node);
    struct post_ops ops = { 0 };

    if (own.n > 0 && own.at[0].scale != 1)
        ops.at[ops.n++] = one(dnnl_eltwise_linear, 1, own.at[0].scale, 0).at[0];
    post_ops_add(&ops, &own, 1);
    return ops;
}

struct chain chain_collect(const struct frame *frame, const struct node *node, enum fusing fusing)
{
    struct chain chain = { 0 };
    const struct value *value = node->outputs[0];
    struct post_ops ops = own_post_ops(node);

    while (fusing != FUSE_NOTHING && chain.n < MAX_CHAIN) {
        const struct node *user = value_only_user(value);
        struct eltwise eltwise;

        if (!user || !may_follow(frame, user, fusing, value))
            break;
        eltwise = eltwise_of(user);
        if (!post_ops_add(&ops, &eltwise, 0))
            break;
        chain.nodes[chain.n++] = user;
        value = user->outputs[0];
    }
    return chain;
}
