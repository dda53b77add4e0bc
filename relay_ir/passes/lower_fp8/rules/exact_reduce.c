/* exact_reduce.c - averages and sums of FP8 numbers that are encoded again; the greatest and the
 * least of them. */
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

static enum op exact_op(enum op op)
{
    switch (op) {
    case OP_AVG_POOL1D: return OP_QNN_AVG_POOL1D;
    case OP_AVG_POOL2D: return OP_QNN_AVG_POOL2D;
    case OP_AVG_POOL3D: return OP_QNN_AVG_POOL3D;
    case OP_GLOBAL_AVG_POOL: return OP_QNN_AVG_POOL2D; /* or another one */
    case OP_MEAN: return OP_QNN_MEAN;
    case OP_SUM: return OP_QNN_SUM;
    default: return OP_COUNT;
    }
}

/* encode(avg_pool, global_avg_pool, mean or sum of decode(x)) -> qnn.avg_pool, mean, sum */
struct value *exact_average(struct rewrite *rewrite, struct node *root)
{
    const struct node *node, *decoder;
    struct exact_behind behind;
    union attrs attrs;
    struct small in;
    enum op op;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    op = exact_op(node->op);
    if (op == OP_COUNT)
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder)
        return NULL;
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    attrs = node->attrs;
    if (node->op == OP_GLOBAL_AVG_POOL)
        op = global_average_as_pool(node, &attrs);
    return exact_bounded(
        rewrite, &behind, root,
        rule_build(rewrite, op, &attrs, 5,
                   (struct value *[]){ decoder->inputs[0], scale_operand(rewrite, in.scale),
                                       zero_operand(rewrite, in.dtype),
                                       scale_operand(rewrite, behind.out.scale),
                                       zero_operand(rewrite, behind.out.dtype) }));
}
