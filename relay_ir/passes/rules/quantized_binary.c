/* quantized_binary.c - what stands right before a qnn.quantize and is no product of matrices: sums,
 * products, joins and bounds of dequantized numbers, and dequantized numbers themselves. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/rules/quantized.h"

/* Whether x is the node's result before quantized_move.c went in front of it. */
static bool was_moved(const struct value *x, const struct node *dequantize)
{
    const char *name = dequantize->outputs[0]->name;
    const size_t n = strlen(name);

    return x->def && strncmp(x->name, name, n) == 0 && x->name[n] == '.';
}

/* quantize(dequantize(x)) -> x, or requantize(x). x that has no name of the model takes over the
 * one of what it replaces. */
struct value *quantize_of_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine in, out;
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &in);

    if (!node || !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    if (affine_equal(&in, &out) && was_moved(node->inputs[0], node))
        value_take_name(node->inputs[0], root->outputs[0]);
    rule_covers(rewrite, node);
    return requantized_to(rewrite, node->inputs[0], &in, &out);
}

/* --- qnn.add and qnn.mul ---------------------------------------------------------------------- */

/* qnn.add rounds its operands in units of t / 2^shift, t twice the greater scale. Refused where
 * such a unit is more than a sixteenth of a step. */
static bool add_is_fine(const struct affine *a, const struct affine *b, const struct affine *out)
{
    const int shift = qnn_add_factors_of(a->dtype, a->scale, b->scale, out->scale).shift;

    return 2 * fmax(a->scale, b->scale) / out->scale <= ldexp(1, shift - 4);
}

/* The product must fit into 32 bits. */
static bool mul_is_fine(const struct affine *a, const struct affine *b)
{
    return affine_reach(a) * affine_reach(b) <= INT32_MAX;
}

/* quantize(add or multiply of dequantize(a) and dequantize(b)) -> qnn.add, qnn.mul */
struct value *binary_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *a, *b;
    struct affine a_affine, b_affine, out;
    bool add;

    if (!node || (node->op != OP_ADD && node->op != OP_MULTIPLY) ||
        !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    add = node->op == OP_ADD;
    a = dequantize_of(rewrite, node->inputs[0], &a_affine);
    b = dequantize_of(rewrite, node->inputs[1], &b_affine);
    if (!a || !b || a_affine.dtype != b_affine.dtype || a_affine.dtype != out.dtype ||
        !(add ? add_is_fine(&a_affine, &b_affine, &out) : mul_is_fine(&a_affine, &b_affine)))
        return NULL;
    rule_covers(rewrite, a);
    rule_covers(rewrite, b);
    rule_covers(rewrite, node);
    return rule_build(rewrite, add ? OP_QNN_ADD : OP_QNN_MUL, NULL, 8,
                      (struct value *[]){ a->inputs[0], b->inputs[0], a_affine.scale_value,
                                          a_affine.zero_value, b_affine.scale_value,
                                          b_affine.zero_value, out.scale_value, out.zero_value });
}

/* --- concatenate ------------------------------------------------------------------------------ */

/* quantize(concatenate(dequantize(x) ...)) -> concatenate(requantize(x) ...) */
struct value *quantize_of_concatenate(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = defined_by(root->inputs[0], OP_CONCATENATE), *part;
    struct value **parts;
    struct affine in, out;

    if (!node || !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        if (!dequantize_of(rewrite, node->inputs[i], &in))
            return NULL;
    parts = arena_array(&rewrite->ctx->scratch, struct value *, (size_t)node->n_inputs);
    rule_covers(rewrite, node);
    for (int i = 0; i < node->n_inputs; i++) {
        part = dequantize_of(rewrite, node->inputs[i], &in);
        rule_covers(rewrite, part);
        parts[i] = requantized_to(rewrite, part->inputs[0], &in, &out);
    }
    return rule_build(rewrite, OP_CONCATENATE, &node->attrs, node->n_inputs, parts);
}

/* --- relu and clip ---------------------------------------------------------------------------- */

/* What qnn.quantize makes of a bound. */
static double stored_bound(const struct affine *out, double bound)
{
    const double q = (double)(float)((double)(float)bound / out->scale);

    return fmin(fmax(rint(q) + (double)out->zero, least_stored(out->dtype)),
                greatest_stored(out->dtype));
}

/* Whether the other rules may make integers of what the value is computed by. */
static bool may_become_integer(const struct value *value)
{
    const enum op op = value->def ? value->def->op : OP_COUNT;

    return op == OP_QNN_DEQUANTIZE || op == OP_BIAS_ADD || op == OP_ADD || op == OP_MULTIPLY ||
           op == OP_CONCATENATE || op == OP_DENSE || op == OP_MATMUL || op == OP_CONV1D ||
           op == OP_CONV2D || op == OP_CONV3D;
}

/* quantize(relu or clip(x)) -> clip(quantize(x)), or quantize(x) where the type has these bounds:
 * quantize is monotonous, so that it does not matter which comes first. */
struct value *quantize_of_clip(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;
    const bool relu = node && node->op == OP_RELU;
    union attrs attrs = { .clip = { 0 } };
    struct affine out;
    struct value *y;

    if (!node || (!relu && node->op != OP_CLIP) ||
        !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    if (!relu && (isnan(node->attrs.clip.a_min) || isnan(node->attrs.clip.a_max)))
        return NULL;
    attrs.clip.a_min = stored_bound(&out, relu ? 0 : node->attrs.clip.a_min);
    attrs.clip.a_max = stored_bound(&out, relu ? (double)INFINITY : node->attrs.clip.a_max);
    if (!may_become_integer(node->inputs[0]))
        return NULL;
    rule_covers(rewrite, node);
    y = rule_build3(rewrite, OP_QNN_QUANTIZE, &root->attrs, node->inputs[0], out.scale_value,
                    out.zero_value);
    if (attrs.clip.a_min <= least_stored(out.dtype) &&
        attrs.clip.a_max >= greatest_stored(out.dtype))
        return y;
    return rule_build1(rewrite, OP_CLIP, &attrs, y);
}
