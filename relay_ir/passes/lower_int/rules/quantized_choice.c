/* quantized_choice.c - what stands right before a qnn.quantize and computes no new number: joins,
 * choices and bounds of dequantized numbers, and dequantized numbers themselves. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

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
    if (!affine_equal(&in, &out) && rewrite->fn->module->rounds_as_onnx)
        return NULL; /* left to a table */
    if (affine_equal(&in, &out) && was_moved(node->inputs[0], node))
        value_take_name(node->inputs[0], root->outputs[0]);
    rule_covers(rewrite, node);
    return requantized_to(rewrite, node->inputs[0], &in, &out);
}

/* --- joins and choices ------------------------------------------------------------------------ */

static bool is_operand(struct rewrite *rewrite, const struct value *value)
{
    struct affine affine;

    return value->kind == VALUE_CONSTANT ? value->type.dtype == DTYPE_F32
                                         : dequantize_of(rewrite, value, &affine) != NULL;
}

/* The value quantized as the root does it: what is stored, requantized, or a constant that will be
 * folded. */
static struct value *as_stored(struct rewrite *rewrite, const struct node *root,
                               struct value *value, const struct affine *out)
{
    struct affine in;
    const struct node *node = dequantize_of(rewrite, value, &in);

    if (!node)
        return rule_build3(rewrite, OP_QNN_QUANTIZE, &root->attrs, value, out->scale_value,
                           out->zero_value);
    rule_covers(rewrite, node);
    return requantized_to(rewrite, node->inputs[0], &in, out);
}

/* The root's operator, of what is stored; inputs that are no numbers (conditions, indices) stay. */
static struct value *of_stored(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;
    struct value **parts =
        arena_array(&rewrite->ctx->scratch, struct value *, (size_t)node->n_inputs);
    struct affine out;

    if (!only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]->type.dtype == DTYPE_F32 && !is_operand(rewrite, node->inputs[i]))
            return NULL;
    rule_covers(rewrite, node);
    for (int i = 0; i < node->n_inputs; i++)
        parts[i] = node->inputs[i]->type.dtype == DTYPE_F32
                       ? as_stored(rewrite, root, node->inputs[i], &out)
                       : node->inputs[i];
    return rule_build(rewrite, node->op, &node->attrs, node->n_inputs, parts);
}

/* quantize(concatenate(dequantize(x) ...)) -> concatenate(requantize(x) ...) */
struct value *quantize_of_concatenate(struct rewrite *rewrite, struct node *root)
{
    return defined_by(root->inputs[0], OP_CONCATENATE) ? of_stored(rewrite, root) : NULL;
}

/* Whether it puts numbers into others, and computes none: the greatest of two is one of them. */
static bool is_scatter(const struct node *node)
{
    const char *reduction = node->attrs.scatter.reduction;

    return (node->op == OP_SCATTER_ELEMENTS || node->op == OP_SCATTER_ND) &&
           strcmp(reduction, "add") != 0 && strcmp(reduction, "mul") != 0;
}

/* quantize(maximum, minimum, where, scatter or one_hot of dequantize(x) ...) -> maximum ... of
 * requantize(x): to quantize is monotonous. One number beside a value of 8 bits is left to a table.
 */
struct value *choice_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;

    if (!node || (node->op != OP_MAXIMUM && node->op != OP_MINIMUM && node->op != OP_WHERE &&
                  node->op != OP_ONE_HOT && !is_scatter(node)))
        return NULL;
    for (int i = 0; i < 2 && (node->op == OP_MAXIMUM || node->op == OP_MINIMUM); i++)
        if (node->inputs[i]->kind == VALUE_CONSTANT && type_elements(&node->inputs[i]->type) == 1 &&
            node->inputs[1 - i]->def && node->inputs[1 - i]->def->op == OP_QNN_DEQUANTIZE &&
            dtype_bytes(node->inputs[1 - i]->def->inputs[0]->type.dtype) == 1)
            return NULL;
    return of_stored(rewrite, root);
}

/* --- relu and clip ---------------------------------------------------------------------------- */

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
    attrs.clip.a_min = stored_number(&out, relu ? 0 : node->attrs.clip.a_min);
    attrs.clip.a_max = stored_number(&out, relu ? (double)INFINITY : node->attrs.clip.a_max);
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

struct value *one_hot_of_greatest(struct rewrite *rewrite, const struct node *root,
                                  struct value *quantized, enum dtype dtype, unsigned one)
{
    const int64_t axis = root->attrs.axis.axis, two = 2;
    const union attrs arg = { .arg = { .axis = axis } };
    const union attrs one_hot = { .one_hot = { .axis = axis,
                                               .depth = root->inputs[0]->type.dim[axis] } };
    const struct type type = type_make(dtype, 1, &two);
    uint8_t *values = constant_alloc(rewrite->fn, &type);
    struct value *greatest = rule_build1(rewrite, OP_ARGMAX, &arg, quantized);

    values[0] = 0;
    values[1] = (uint8_t)one;
    if (!greatest)
        return NULL;
    return rule_build(
        rewrite, OP_ONE_HOT, &one_hot, 2,
        (struct value *[]){
            greatest, constant_new(rewrite->fn,
                                   arena_printf(&rewrite->ctx->scratch, "%s.values", rewrite->name),
                                   &type, values) });
}

/* hardmax(dequantize(x)) -> dequantize(one_hot(argmax(x)) of i8, in whole numbers) */
struct value *hardmax_before_dequantize(struct rewrite *rewrite, struct node *root)
{
    struct affine in, out = { .dtype = DTYPE_I8, .scale = 1 };
    const struct node *node = dequantize_of(rewrite, root->inputs[0], &in);
    struct value *quantized;

    if (!node || in.scale < 0x1p-100 || /* differences must not vanish */
        type_elements(&root->inputs[0]->type) == 0)
        return NULL;
    rule_covers(rewrite, node);
    quantized = one_hot_of_greatest(rewrite, root, node->inputs[0], DTYPE_I8, 1);
    if (!quantized)
        return NULL;
    make_affine_values(rewrite, &out);
    return rule_build3(rewrite, OP_QNN_DEQUANTIZE, &(union attrs){ .axis = { 0 } }, quantized,
                       out.scale_value, out.zero_value);
}
