/* binary.c - arithmetic and comparisons of two inputs with broadcasting, and prelu. */
#include <string.h>

#include "runtime/engine/primitive.h"

/* The algorithm with its operands exchanged; undef = there is none. */
static dnnl_alg_kind_t mirrored(dnnl_alg_kind_t algorithm)
{
    static const dnnl_alg_kind_t pairs[][2] = {
        { dnnl_binary_add, dnnl_binary_add }, { dnnl_binary_mul, dnnl_binary_mul },
        { dnnl_binary_max, dnnl_binary_max }, { dnnl_binary_min, dnnl_binary_min },
        { dnnl_binary_eq, dnnl_binary_eq },   { dnnl_binary_ne, dnnl_binary_ne },
        { dnnl_binary_ge, dnnl_binary_le },   { dnnl_binary_le, dnnl_binary_ge },
        { dnnl_binary_gt, dnnl_binary_lt },   { dnnl_binary_lt, dnnl_binary_gt },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == algorithm)
            return pairs[i][1];
    return dnnl_alg_kind_undef;
}

/* Which input has the shape of the output, so that only the other one is broadcast; -1 = none. */
static int full_input(const struct node *node)
{
    for (int i = 0; i < 2; i++)
        if (type_same_shape(&node->inputs[i]->type, &node->outputs[0]->type))
            return i;
    return -1;
}

static bool is_reversible(enum op op)
{
    return op == OP_SUBTRACT || op == OP_DIVIDE;
}

bool binary_supports(const struct node *node, const char **why)
{
    *why = "both inputs are broadcast";
    return full_input(node) >= 0;
}

/* The input that may be broadcast, in the dims of the full one. */
static struct operand second_operand(struct work *work, int input, const struct operand *full)
{
    const struct node *node = work->node;
    const struct value *value = node->inputs[input];
    int64_t dims[MAX_RANK];

    if (type_same_shape(&value->type, &node->outputs[0]->type))
        return work_native(work, value);
    broadcast_dims(node, input, dims);
    return work_dense(work, value, full->as.ndims, dims);
}

/* a - b and a / b where only a is broadcast: b is turned over, then a is added or multiplied. */
static bool prepare_reversed(struct work *work, struct operand *full, const struct operand *other)
{
    const bool minus = work->node->op == OP_SUBTRACT;
    dnnl_eltwise_desc_t desc;

    /* For other ranks, oneDNN 2.6's implementation of an eltwise with post-ops computes nothing. */
    if (full->as.ndims < 2 || full->as.ndims > 5)
        return work_refuse(work, "oneDNN computes this function for 2 to 5 dimensions only");
    work_binary(work, minus ? dnnl_binary_add : dnnl_binary_mul, other);
    return work_take(work,
                     dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_inference,
                                                    minus ? dnnl_eltwise_linear : dnnl_eltwise_pow,
                                                    &full->as, minus ? -1 : 1, minus ? 0 : -1),
                     NULL) &&
           work_create(work, &desc, &full->as) && work_bind(work, DNNL_ARG_SRC, full) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

bool binary_prepare(struct work *work)
{
    const struct node *node = work->node;
    const int first = full_input(node);
    const bool same_shape =
        type_same_shape(&node->inputs[1 - first]->type, &node->outputs[0]->type);
    dnnl_alg_kind_t algorithm = binary_of(node->op);
    struct operand full = work_native(work, node->inputs[first]);
    struct operand other = second_operand(work, 1 - first, &full);
    dnnl_memory_desc_t layout, dst;
    dnnl_binary_desc_t desc;

    if (!other.slot)
        return false;
    /* The other one may be in a layout worth keeping. */
    layout = same_shape && full.slot->plain ? other.as : full.as;
    if (!work_blocks_second(work, &layout)) {
        full = work_plain(work, node->inputs[first]);
        if (!full.slot)
            return false;
        layout = full.as;
    }
    layout = work_turned(&layout, work->out_layout, true);
    full.as = work_turned(&full.as, work->out_layout, true);
    other.as = work_turned(&other.as, work->out_layout, true);
    if (first == 1 && is_reversible(node->op))
        return prepare_reversed(work, &full, &other);
    if (first == 1)
        algorithm = mirrored(algorithm);
    dst = layout;
    if (node->outputs[0]->type.dtype == DTYPE_BOOL)
        dst.data_type = dnnl_u8;
    return work_take(work,
                     dnnl_binary_desc_init(&desc, algorithm, &layout,
                                           same_shape ? &layout : &other.as, &dst),
                     NULL) &&
           work_create(work, &desc, &dst) && work_bind(work, DNNL_ARG_SRC_0, &full) &&
           work_bind(work, DNNL_ARG_SRC_1, &other) && work_result(work, DNNL_ARG_DST, 0) &&
           work_finish(work);
}

bool prelu_supports(const struct node *node, const char **why)
{
    (void)node;
    (void)why;
    return true;
}

bool prelu_prepare(struct work *work)
{
    const struct node *node = work->node;
    struct operand x = work_native(work, node->inputs[0]), slope;
    dnnl_prelu_desc_t desc;
    int64_t dims[MAX_RANK];

    broadcast_dims(node, 1, dims);
    slope = work_dense(work, node->inputs[1], x.as.ndims, dims);
    return work_take(work,
                     dnnl_prelu_forward_desc_init(&desc, dnnl_forward_inference, &x.as, &slope.as),
                     NULL) &&
           work_create(work, &desc, &x.as) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_bind(work, DNNL_ARG_WEIGHTS, &slope) && work_result(work, DNNL_ARG_DST, 0) &&
           work_finish(work);
}
