/* narrow_move.c - quantised values of narrow floats between encoder and decoder: a qnn.quantize and a
 * qnn.dequantize with one scale, or casts from and to f32. Operators that only move or compare
 * numbers work on the quantised values themselves, a quarter of the bytes: no bit of any number
 * changes. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/minifloat.h"
#include "relay_ir/passes/rules.h"
#include "relay_ir/region.h"

/* How numbers are stored. */
struct coding {
    enum dtype dtype;
    double scale;
};

static bool is_code(const struct value *value)
{
    return dtype_kind(value->type.dtype) == KIND_MINIFLOAT && value->type.dtype != DTYPE_AFP;
}

/* Of an encoder or a decoder whose quantised values are `quantized`; false where scales are several or
 * computed. */
static bool coding_of(const struct node *node, const struct value *quantized, struct coding *coding)
{
    *coding = (struct coding){ quantized->type.dtype, 1 };
    return is_code(quantized) &&
           (node->op == OP_CAST || value_uniform(node->inputs[1], &coding->scale));
}

static bool coding_equal(const struct coding *a, const struct coding *b)
{
    return a->dtype == b->dtype && a->scale == b->scale;
}

/* The decoder that computes the value, else NULL. */
static struct node *decoder_of(const struct value *value, struct coding *coding)
{
    struct node *node = value->def;

    return node && is_decoder(node) && coding_of(node, node->inputs[0], coding) ? node : NULL;
}

/* Whether the node encodes f32. */
static bool encodes(const struct node *node, struct coding *coding)
{
    return (node->op == OP_QNN_QUANTIZE || node->op == OP_CAST) &&
           node->inputs[0]->type.dtype == DTYPE_F32 && coding_of(node, node->outputs[0], coding);
}

/* The same encoder or decoder of x. */
static struct value *coded_like(struct rewrite *rewrite, const struct node *node, struct value *x)
{
    struct value *inputs[3] = { x };

    for (int i = 1; i < node->n_inputs; i++)
        inputs[i] = node->inputs[i];
    return x ? rule_build(rewrite, node->op, &node->attrs, node->n_inputs, inputs) : NULL;
}

/* op(decode(x)) -> decode(op(x)); the other inputs say where to read. See the table. */
struct value *move_before_decoder(struct rewrite *rewrite, struct node *root)
{
    struct coding coding;
    const struct node *node = decoder_of(root->inputs[0], &coding);
    struct value *inputs[2] = { NULL, root->n_inputs > 1 ? root->inputs[1] : NULL };

    if (!node || root->n_inputs > 2)
        return NULL;
    rule_covers(rewrite, node);
    inputs[0] = node->inputs[0];
    return coded_like(rewrite, node,
                      rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs));
}

/* Windows take padding in by themselves, later. */
static bool is_read_by_window(const struct value *value)
{
    for (const struct use *use = value->uses; use; use = use->next)
        if (op_spatial_rank(use->node->op) != 0)
            return true;
    return false;
}

/* The same of pad, with 0 or with numbers of x. */
struct value *pad_before_decoder(struct rewrite *rewrite, struct node *root)
{
    const struct pad_attrs *pad = &root->attrs.pad;

    if ((strcmp(pad->mode, "constant") == 0 && (pad->value != 0 || signbit(pad->value))) ||
        is_read_by_window(root->outputs[0]))
        return NULL;
    return move_before_decoder(rewrite, root);
}

/* concatenate(decode(x) ...) -> decode(concatenate(x ...)), all in one coding */
struct value *join_before_decoder(struct rewrite *rewrite, struct node *root)
{
    struct value **parts =
        arena_array(&rewrite->ctx->scratch, struct value *, (size_t)root->n_inputs);
    const struct node *node = NULL;
    struct coding first, coding;

    for (int i = 0; i < root->n_inputs; i++) {
        node = decoder_of(root->inputs[i], &coding);
        if (i == 0)
            first = coding;
        if (!node || !coding_equal(&first, &coding))
            return NULL;
        parts[i] = node->inputs[0];
    }
    for (int i = 0; i < root->n_inputs; i++)
        rule_covers(rewrite, root->inputs[i]->def);
    assert(node); /* there is one at least */
    return coded_like(rewrite, node,
                      rule_build(rewrite, OP_CONCATENATE, &root->attrs, root->n_inputs, parts));
}

/* Whether every code, decoded and encoded again, is itself: with a scale far from the ends of f32's
 * range it is, but infinities saturate. They are in no code that a saturating encoder has made. */
static bool quantized_survive(const struct node *encoder, const struct value *quantized,
                              double scale)
{
    const struct minifloat *format = dtype_minifloat(quantized->type.dtype);
    const bool saturates =
        encoder->op == OP_CAST ? encoder->attrs.cast.saturate : encoder->attrs.quantize.saturate;
    struct coding coding;

    if (scale < 0x1p-100 || scale > 0x1p100)
        return false;
    if (format->specials != MINIFLOAT_IEEE || !saturates)
        return true;
    while (quantized && quantized->def &&
           !encodes(quantized->def, &coding)) /* of several pieces: not known */
        quantized = quantized->def->n_inputs == 1 ? quantized->def->inputs[0] : NULL;
    return quantized && quantized->def &&
           (quantized->def->op == OP_CAST ? quantized->def->attrs.cast.saturate
                                          : quantized->def->attrs.quantize.saturate);
}

/* encode(decode(x)) -> x, in one coding */
struct value *encode_of_decode(struct rewrite *rewrite, struct node *root)
{
    struct coding coding, own;
    const struct node *node = decoder_of(root->inputs[0], &coding);

    (void)rewrite;
    if (!node || !encodes(root, &own) || !coding_equal(&coding, &own) ||
        !quantized_survive(root, node->inputs[0], own.scale))
        return NULL;
    return node->inputs[0];
}

/* Whether it only moves what it reads, all of which stays as it is when encoded. */
static bool is_move(const struct node *node)
{
    switch (node->op) {
    case OP_CONCATENATE:
    case OP_COPY:
    case OP_DEPTH_TO_SPACE:
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_SPACE_TO_DEPTH:
    case OP_SQUEEZE:
    case OP_TRANSPOSE: return true;
    default: return false;
    }
}

/* encode(move(x)) -> move(encode(x)): the encoder stands behind what computes x, where it fuses
 * with it, and finds its decoder, if there is one. Parts of a concatenate come in several codings.
 */
struct value *encode_before_move(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;
    struct value **parts;
    struct coding coding;

    if (!node || !is_move(node) || !encodes(root, &coding) ||
        value_only_user(root->inputs[0]) != root)
        return NULL;
    parts = arena_array(&rewrite->ctx->scratch, struct value *, (size_t)node->n_inputs);
    rule_covers(rewrite, node);
    for (int i = 0; i < node->n_inputs; i++) {
        parts[i] = coded_like(rewrite, root, node->inputs[i]);
        if (!parts[i])
            return NULL;
    }
    return rule_build(rewrite, node->op, &node->attrs, node->n_inputs, parts);
}

/* Whether all that is split is encoded, piece by piece. */
static bool all_encoded(const struct node *split)
{
    struct coding coding;

    for (int i = 0; i < split->n_outputs; i++) {
        const struct use *use = split->outputs[i]->uses;

        if (!use)
            return false;
        for (; use; use = use->next)
            if (!encodes(use->node, &coding))
                return false;
    }
    return true;
}

/* Piece k alone, where others are read as f32 as well: a split would store them twice. */
static struct value *piece_of_quantized(struct rewrite *rewrite, const struct node *split, int k,
                                        struct value *quantized)
{
    const struct type *whole = &quantized->type, *piece = &split->outputs[k]->type;
    const int axis = type_axis(whole, split->attrs.split.axis);
    int64_t begin[MAX_RANK] = { 0 }, step[MAX_RANK];
    union attrs attrs;

    for (int i = 0; i < whole->rank; i++)
        step[i] = 1;
    for (int i = 0; i < k; i++)
        begin[axis] += split->outputs[i]->type.dim[axis];
    memset(&attrs, 0, sizeof attrs);
    attrs.slice.begin = ints_of(whole->rank, begin);
    attrs.slice.strides = ints_of(whole->rank, step);
    attrs.slice.size = ints_of(whole->rank, piece->dim);
    return rule_build1(rewrite, OP_STRIDED_SLICE, &attrs, quantized);
}

/* encode(split(decode(x))[k]) -> encode(decode(split(x)[k])): the parts need not be f32. */
struct value *encode_of_split(struct rewrite *rewrite, struct node *root)
{
    struct node *split = defined_by(root->inputs[0], OP_SPLIT), *quantized;
    const int k = root->inputs[0]->index;
    const struct node *node;
    struct coding in, out;

    if (!split || !encodes(root, &out) || !(node = decoder_of(split->inputs[0], &in)))
        return NULL;
    rule_covers(rewrite, node);
    rule_covers(rewrite, split);
    if (!split_found(split, node->inputs[0]) && !all_encoded(split))
        return coded_like(
            rewrite, root,
            coded_like(rewrite, node, piece_of_quantized(rewrite, split, k, node->inputs[0])));
    quantized = split_before(rewrite, split, node->inputs[0]);
    return quantized ? coded_like(rewrite, root, coded_like(rewrite, node, quantized->outputs[k]))
                     : NULL;
}
