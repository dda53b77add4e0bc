/* quantized_reduce.c - averages, sums, norms, softmax and log_softmax between a qnn.dequantize and
 * a qnn.quantize, in integers; ops/qnn_reduce.c, qnn_norm.c and qnn_table.c say how they round. */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

static enum op integer_op(enum op op)
{
    switch (op) {
    case OP_AVG_POOL1D: return OP_QNN_AVG_POOL1D;
    case OP_AVG_POOL2D: return OP_QNN_AVG_POOL2D;
    case OP_AVG_POOL3D: return OP_QNN_AVG_POOL3D;
    case OP_GLOBAL_AVG_POOL: return OP_QNN_MEAN;
    case OP_MEAN: return OP_QNN_MEAN;
    case OP_SUM: return OP_QNN_SUM;
    case OP_SOFTMAX: return OP_QNN_SOFTMAX;
    case OP_LOG_SOFTMAX: return OP_QNN_LOG_SOFTMAX;
    case OP_LP_NORMALIZE: return OP_QNN_LP_NORMALIZE;
    case OP_LRN: return OP_QNN_LRN;
    default: return OP_COUNT;
    }
}

/* Elements of x that make one of the result, at most. */
static int64_t terms_of(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct ints *window = &node->attrs.pool.pool_size;
    int64_t n = 1;

    if (op_spatial_rank(node->op) == 0)
        return type_elements(y) ? type_elements(x) / type_elements(y) : 0;
    for (int i = 0; i < window->n; i++)
        n *= window->at[i];
    return n;
}

enum op global_average_as_pool(const struct node *node, union attrs *attrs)
{
    static const enum op pools[] = { OP_QNN_AVG_POOL1D, OP_QNN_AVG_POOL2D, OP_QNN_AVG_POOL3D };
    const struct type *x = &node->inputs[0]->type;

    *attrs = (union attrs){ .pool = { .pool_size = { 0 } } };
    if (x->rank > 5) {
        attrs->reduce.keepdims = true;
        for (int i = 2; i < x->rank; i++)
            attrs->reduce.axis.at[attrs->reduce.axis.n++] = i;
        return OP_QNN_MEAN;
    }
    attrs->pool.layout = node->attrs.layout.layout;
    attrs->pool.pool_size = ints_of(x->rank - 2, x->dim + layout_spatial_axis(attrs->pool.layout));
    return pools[x->rank - 3];
}

/* What qnn.lrn rounds before its factor, 2^-15 of a step of x, is 1/32 of one of the result at
 * most, and so is what its table is off. */
static bool lrn_is_fine(const struct lrn_attrs *attrs, const struct affine *in,
                        const struct affine *out)
{
    return attrs->alpha >= 0 && attrs->bias > 0 && attrs->beta >= 0 && attrs->beta <= 4 &&
           in->scale * pow(attrs->bias, -attrs->beta) / out->scale <= 0x1p10;
}

/* Exact sums of 32 bits; the results of softmax fit what it divides. */
static bool is_fine(const struct node *node, const struct affine *in, const struct affine *out)
{
    if (node->op == OP_SOFTMAX)
        return out->scale >= 0x1p-24 && out->scale <= 0x1p24;
    if (node->op == OP_LOG_SOFTMAX) /* the logarithm is 2e-6 off: 1/30 of a step of 2^-14 */
        return out->scale >= 0x1p-14 && out->scale <= 0x1p24 && in->scale <= ldexp(out->scale, 30);
    if (node->op == OP_LRN)
        return lrn_is_fine(&node->attrs.lrn, in, out);
    if (node->op == OP_LP_NORMALIZE) /* what is divided has 30 bits */
        return out->scale >= 0x1p-24;
    return terms_of(node) <= INT32_MAX >> (8 * dtype_bytes(in->dtype));
}

/* quantize(avg_pool, global_avg_pool, mean, sum, softmax, log_softmax, lrn or lp_normalize of
 * dequantize(x)) -> qnn.avg_pool ... */
struct value *reduction_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *x;
    enum op op = node ? integer_op(node->op) : OP_COUNT;
    struct affine in, out;
    union attrs attrs;

    if (op == OP_COUNT || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    if (!x || !is_fine(node, &in, &out))
        return NULL;
    attrs = node->attrs;
    if (node->op == OP_GLOBAL_AVG_POOL)
        op = global_average_as_pool(node, &attrs);
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    return rule_build(rewrite, op, &attrs, 5,
                      (struct value *[]){ x->inputs[0], in.scale_value, in.zero_value,
                                          out.scale_value, out.zero_value });
}

static enum op integer_norm(enum op op)
{
    switch (op) {
    case OP_GROUP_NORM: return OP_QNN_GROUP_NORM;
    case OP_INSTANCE_NORM: return OP_QNN_INSTANCE_NORM;
    case OP_LAYER_NORM: return OP_QNN_LAYER_NORM;
    default: return OP_COUNT;
    }
}

/* What is multiplied and added behind: known, and no more than 2^30 steps, as infinities are. */
static bool is_known_norm(struct rewrite *rewrite, const struct value *vector, double out_scale)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    bool ok = static_tensor(rewrite, vector, &bulk, &tensor);

    for (int64_t i = 0; ok && i < type_elements(&vector->type); i++)
        ok = fabs(tensor_at(&tensor, i)) / out_scale <= 0x1p30;
    bulk_release(&bulk);
    return ok;
}

static bool norm_is_fine(struct rewrite *rewrite, const struct node *node, enum dtype dtype,
                         double out_scale)
{
    const struct type first = norm_first(node, &node->inputs[0]->type);

    for (int i = 1; i < node->n_inputs; i++)
        if (node->inputs[i] && !is_known_norm(rewrite, node->inputs[i], out_scale))
            return false;
    return node->attrs.norm.epsilon >= 0 &&
           norm_blocks_of(node, &first).size <= qnn_norm_longest(dtype);
}

/* quantize(layer_norm, instance_norm or group_norm of dequantize(x)) -> qnn.layer_norm ... */
struct value *norm_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *x;
    const enum op op = node ? integer_norm(node->op) : OP_COUNT;
    struct value *inputs[7];
    struct affine in, out;

    if (op == OP_COUNT || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    if (!x || !norm_is_fine(rewrite, node, in.dtype, out.scale))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    inputs[0] = x->inputs[0];
    inputs[1] = in.scale_value;
    inputs[2] = in.zero_value;
    inputs[3] = out.scale_value;
    inputs[4] = out.zero_value;
    inputs[5] = node->inputs[1];
    inputs[6] = node->n_inputs > 2 ? node->inputs[2] : NULL;
    return rule_build(rewrite, op, &node->attrs, inputs[6] ? 7 : 6, inputs);
}
