/* exact_move.c - what needs no arithmetic on FP8: operators that move or choose quantised values go in front
 * of what decodes them, chains of element-wise operators become tables of 256 quantised values. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/passes/lower/exact.h"

struct value *decode_like(struct rewrite *rewrite, const struct node *like, struct value *quantized)
{
    const union attrs axis = { .axis = { 0 } };

    if (like->op == OP_CAST)
        return rule_build1(rewrite, OP_CAST, &like->attrs, quantized);
    return rule_build3(rewrite, OP_QNN_DEQUANTIZE, &axis, quantized, like->inputs[1],
                       like->inputs[2]);
}

/* op(decode(x)) -> decode(op(x)): see the table; max_pool takes the same element. */
struct value *move_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct value *inputs[2] = { NULL, root->n_inputs > 1 ? root->inputs[1] : NULL };
    struct small small;
    const struct node *decoder = decoder_of(rewrite, root->inputs[0], &small);

    if (!decoder || root->n_inputs > 2)
        return NULL;
    rule_covers(rewrite, decoder);
    inputs[0] = decoder->inputs[0];
    return decode_like(rewrite, decoder,
                       rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs));
}

/* resize by nearest neighbours */
struct value *resize_before_decode(struct rewrite *rewrite, struct node *root)
{
    return resize_only_moves(&root->attrs.resize) ? move_before_decode(rewrite, root) : NULL;
}

/* pad with 0, with or without quantised values: all zeros are the same. */
struct value *pad_before_decode(struct rewrite *rewrite, struct node *root)
{
    return root->attrs.pad.value == 0 || strcmp(root->attrs.pad.mode, "constant") != 0
               ? move_before_decode(rewrite, root)
               : NULL;
}

/* concatenate(decode(x) ...) -> decode(concatenate(x ...)), all in one scale */
struct value *join_before_decode(struct rewrite *rewrite, struct node *root)
{
    struct value **parts =
        arena_array(&rewrite->ctx->scratch, struct value *, (size_t)root->n_inputs);
    const struct node *decoder = NULL;
    struct small first, small;

    for (int i = 0; i < root->n_inputs; i++) {
        decoder = decoder_of(rewrite, root->inputs[i], &small);
        if (i == 0)
            first = small;
        if (!decoder || !small_equal(&first, &small))
            return NULL;
        parts[i] = decoder->inputs[0];
    }
    for (int i = 0; i < root->n_inputs; i++)
        rule_covers(rewrite, root->inputs[i]->def);
    assert(decoder); /* there is one at least */
    return decode_like(rewrite, decoder,
                       rule_build(rewrite, OP_CONCATENATE, &root->attrs, root->n_inputs, parts));
}

/* encode(concatenate(decode(x) ...)) -> concatenate of quantised values, through tables where scales differ */
struct value *encode_of_concatenate(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = defined_by(root->inputs[0], OP_CONCATENATE), *decoder;
    struct value **parts;
    struct small in, out;

    if (!encodes(rewrite, root, &out) || !node || !read_once(root->inputs[0], root))
        return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        if (!decoder_of(rewrite, node->inputs[i], &in))
            return NULL;
    parts = arena_array(&rewrite->ctx->scratch, struct value *, (size_t)node->n_inputs);
    rule_covers(rewrite, node);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct value *part = node->inputs[i];

        decoder = decoder_of(rewrite, part, &in);
        rule_covers(rewrite, decoder);
        parts[i] = small_equal(&in, &out)
                       ? decoder->inputs[0]
                       : through_table(rewrite, decoder->inputs[0], &in, part, part, &out);
        if (!parts[i])
            return NULL;
    }
    return rule_build(rewrite, OP_CONCATENATE, &node->attrs, node->n_inputs, parts);
}

/* encode(decode(x)) -> x, in one scale and format */
struct value *exact_encode_of_decode(struct rewrite *rewrite, struct node *root)
{
    struct small in, out;
    const struct node *decoder = decoder_of(rewrite, root->inputs[0], &in);

    if (!decoder || !encodes(rewrite, root, &out) || !small_equal(&in, &out))
        return NULL;
    rule_covers(rewrite, decoder);
    return decoder->inputs[0];
}

/* The one decoded number that the value is computed from, through element-wise operators; NULL when
 * there is none, or another one as well. */
enum { MAX_DEPTH = 16 };

static bool find_leaf(struct rewrite *rewrite, struct value *value, int depth, struct value **leaf)
{
    struct small small;

    if (value->kind == VALUE_CONSTANT)
        return true;
    if (!value->def || depth > MAX_DEPTH)
        return false;
    if (decoder_of(rewrite, value, &small)) {
        *leaf = *leaf ? *leaf : value;
        return same_numbers(rewrite, *leaf, value);
    }
    if (!op_is_elementwise(value->def->op))
        return false;
    for (int i = 0; i < value->def->n_inputs; i++)
        if (!value->def->inputs[i] || !find_leaf(rewrite, value->def->inputs[i], depth + 1, leaf))
            return false;
    return true;
}

typedef struct value *tables(struct rewrite *rewrite, struct value *quantized,
                             const struct small *from, const struct value *leaf,
                             const struct value *value, const struct small *to);

static struct value *encode_by(tables *through, struct rewrite *rewrite, const struct node *root)
{
    struct value *leaf = NULL, *y;
    struct small in, out;

    if (!encodes(rewrite, root, &out) || !find_leaf(rewrite, root->inputs[0], 0, &leaf) || !leaf ||
        !type_same_shape(&leaf->type, &root->outputs[0]->type))
        return NULL;
    (void)decoder_of(rewrite, leaf, &in);
    y = through(rewrite, leaf->def->inputs[0], &in, leaf, root->inputs[0], &out);
    if (y)
        rule_covers(rewrite, leaf->def);
    return y;
}

/* encode(f(decode(x))) -> qnn.lut(x): f of element-wise operators with numbers */
struct value *encode_of_elements(struct rewrite *rewrite, struct node *root)
{
    return encode_by(through_table, rewrite, root);
}

/* The same with constants along one axis (the slopes of a prelu) -> qnn.lut(x) with a table for
 * each channel */
struct value *encode_of_channels(struct rewrite *rewrite, struct node *root)
{
    return encode_by(through_tables, rewrite, root);
}

/* The logarithm is 2e-6 off: half of the least step at most. Steps of x have 8 bits, so that what
 * is far from the greatest number is 2^-9 of itself off. */
static bool log_is_fine(const struct small *in, const struct small *out)
{
    const double least = ldexp(out->scale, exact_unit(out->format));
    const double ratio = ldexp(in->scale, exact_unit(in->format)) / least;

    return least >= 0x1p-18 && ratio >= 0x1p-8 && ratio <= 0x1p26;
}

/* encode(softmax or log_softmax(decode(x))) -> qnn.softmax(x), qnn.log_softmax(x) */
struct value *exact_softmax(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def, *decoder;
    const bool by_log = node && node->op == OP_LOG_SOFTMAX;
    struct small in, out;

    if (!node || (!by_log && node->op != OP_SOFTMAX) || !encodes(rewrite, root, &out) ||
        !read_once(root->inputs[0], root))
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder || in.scale * (double)minifloat_max(in.format) > 10000 || /* 2^exponent: 16 bits */
        (by_log && !log_is_fine(&in, &out)))
        return NULL;
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    return rule_build(rewrite, by_log ? OP_QNN_LOG_SOFTMAX : OP_QNN_SOFTMAX, &node->attrs, 5,
                      (struct value *[]){ decoder->inputs[0], scale_operand(rewrite, in.scale),
                                          zero_operand(rewrite, in.dtype),
                                          scale_operand(rewrite, out.scale),
                                          zero_operand(rewrite, out.dtype) });
}

/* encode(resize(decode(x))) -> qnn.resize(x), and a table to another scale or format, which rounds
 * once more. Cubic ones overshoot: what bounds them is the format of x. */
struct value *exact_resize(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = defined_by(root->inputs[0], OP_RESIZE), *decoder;
    struct small in, out;
    struct value *y;

    if (!node || !qnn_resize_takes(node) || !encodes(rewrite, root, &out) ||
        !read_once(root->inputs[0], root))
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder || (strcmp(node->attrs.resize.method, "cubic") == 0 && !small_equal(&in, &out)))
        return NULL;
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    y = rule_build1(rewrite, OP_QNN_RESIZE, &node->attrs, decoder->inputs[0]);
    return !y || small_equal(&in, &out)
               ? y
               : through_table(rewrite, y, &in, root->inputs[0], root->inputs[0], &out);
}
