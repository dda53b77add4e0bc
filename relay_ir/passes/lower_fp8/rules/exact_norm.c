/* exact_norm.c - norms, lp_normalize and lrn of FP8 numbers that are encoded again. */
#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/passes/lower/exact.h"

static enum op exact_op(enum op op)
{
    switch (op) {
    case OP_GROUP_NORM: return OP_QNN_GROUP_NORM;
    case OP_INSTANCE_NORM: return OP_QNN_INSTANCE_NORM;
    case OP_LAYER_NORM: return OP_QNN_LAYER_NORM;
    case OP_LP_NORMALIZE: return OP_QNN_LP_NORMALIZE;
    case OP_LRN: return OP_QNN_LRN;
    default: return OP_COUNT;
    }
}

static bool is_norm(const struct node *node)
{
    return node->op == OP_GROUP_NORM || node->op == OP_INSTANCE_NORM || node->op == OP_LAYER_NORM;
}

static double least_step(const struct small *small)
{
    return ldexp(small->scale, exact_unit(small->format));
}

/* What is multiplied and added behind: known, and at most 2^24 least steps of the result, so that
 * 2^-6 of such a step is what they count in at most. */
static bool is_known(struct rewrite *rewrite, const struct value *vector, const struct small *out)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    bool ok =
        vector->type.dtype == DTYPE_F32 &&
        interpret_constant(rewrite->ctx, vector, type_elements(&vector->type), &bulk, &tensor);

    for (int64_t i = 0; ok && i < type_elements(&vector->type); i++)
        ok = fabs(tensor_at(&tensor, i)) / least_step(out) <= 0x1p24;
    bulk_release(&bulk);
    return ok;
}

static bool norm_is_fine(struct rewrite *rewrite, const struct node *node, const struct small *in,
                         const struct small *out)
{
    const struct type first = norm_first(node, &node->inputs[0]->type);

    for (int i = 1; i < node->n_inputs; i++)
        if (node->inputs[i] && !is_known(rewrite, node->inputs[i], out))
            return false;
    return node->attrs.norm.epsilon >= 0 &&
           norm_blocks_of(node, &first).size <= exact_most_squares(in->format);
}

/* The power has 31 bits behind the point: what they are off is 1/32 of a least step at most. */
static bool lrn_is_fine(const struct lrn_attrs *attrs, const struct small *in,
                        const struct small *out)
{
    const double factor = least_step(in) / least_step(out) * pow(attrs->bias, -attrs->beta);

    return attrs->alpha >= 0 && attrs->bias > 0 && attrs->beta >= 0 && attrs->beta <= 4 &&
           attrs->size <= exact_most_squares(in->format) &&
           factor * (double)exact_greatest(in->format) <= 0x1p26;
}

static bool line_is_fine(const struct node *node, const struct small *in)
{
    const struct lp_normalize_attrs *attrs = &node->attrs.lp_normalize;

    return (attrs->p == 1 || attrs->p == 2) &&
           node->inputs[0]->type.dim[attrs->axis] <= exact_most_squares(in->format);
}

/* The operator of quantised values, with the bounds behind it. */
static struct value *built(struct rewrite *rewrite, const struct exact_behind *behind,
                           const struct node *root, const struct node *decoder,
                           const struct small *in)
{
    const struct node *node = behind->value->def;
    struct value *inputs[7] = { decoder->inputs[0], scale_operand(rewrite, in->scale),
                                zero_operand(rewrite, in->dtype),
                                scale_operand(rewrite, behind->out.scale),
                                zero_operand(rewrite, behind->out.dtype) };
    int n = 5;

    for (int i = 1; i < node->n_inputs; i++)
        if (node->inputs[i])
            inputs[n++] = node->inputs[i];
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    return exact_bounded(rewrite, behind, root,
                         rule_build(rewrite, exact_op(node->op), &node->attrs, n, inputs));
}

/* encode(layer_norm, instance_norm or group_norm of decode(x)) -> qnn.layer_norm ... */
struct value *exact_norm(struct rewrite *rewrite, struct node *root)
{
    struct exact_behind behind;
    const struct node *decoder;
    struct small in;

    if (!exact_find_behind(rewrite, root, &behind) || !is_norm(behind.value->def))
        return NULL;
    decoder = decoder_of(rewrite, behind.value->def->inputs[0], &in);
    if (!decoder || !norm_is_fine(rewrite, behind.value->def, &in, &behind.out))
        return NULL;
    return built(rewrite, &behind, root, decoder, &in);
}

/* encode(lp_normalize or lrn of decode(x)) -> qnn.lp_normalize, qnn.lrn */
struct value *exact_normalize(struct rewrite *rewrite, struct node *root)
{
    const struct node *node, *decoder;
    struct exact_behind behind;
    struct small in;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (node->op != OP_LRN && node->op != OP_LP_NORMALIZE)
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder || !(node->op == OP_LRN ? lrn_is_fine(&node->attrs.lrn, &in, &behind.out)
                                         : line_is_fine(node, &in)))
        return NULL;
    return built(rewrite, &behind, root, decoder, &in);
}
