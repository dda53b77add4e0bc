/* transposed.c - a transposed convolution between decoders and an encoder becomes a convolution and
 * a depth_to_space (polyphase.h), so that all there is for convolutions of quantised values is there
 * for it. A channel of y keeps its scale and zero point, in all its phases. */
#include <string.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"
#include "relay_ir/passes/simplify/rules/polyphase.h"

enum { MOST_STEPS = 8 }; /* biases and bounds between product and encoder */

struct transposed {
    struct node *node; /* the transposed convolution */
    const struct node *x, *w;
    int n_steps;
    const struct node *steps[MOST_STEPS]; /* what stands behind, the last one first */
    struct polyphase phases;
};

static enum op forward_op(enum op op)
{
    switch (op) {
    case OP_CONV1D_TRANSPOSE: return OP_CONV1D;
    case OP_CONV2D_TRANSPOSE: return OP_CONV2D;
    case OP_CONV3D_TRANSPOSE: return OP_CONV3D;
    default: return OP_COUNT;
    }
}

/* --- finding ---------------------------------------------------------------------------------- */

/* A constant, or one that is decoded. */
static bool is_known(const struct value *value)
{
    const struct node *decoder = defined_by(value, OP_QNN_DEQUANTIZE);

    return (decoder ? decoder->inputs[0] : value)->kind == VALUE_CONSTANT;
}

static bool is_step(const struct node *node)
{
    return node->op == OP_RELU || node->op == OP_CLIP ||
           ((node->op == OP_BIAS_ADD || node->op == OP_ADD) && is_known(node->inputs[1]) &&
            (node->op == OP_ADD ? is_per_axis(&node->inputs[1]->type, &node->outputs[0]->type, 1)
                                : node->attrs.axis.axis == 1) &&
            type_same_shape(&node->inputs[0]->type, &node->outputs[0]->type));
}

/* The transposed convolution that the root encodes, which nobody else reads, but to encode it to
 * the same integers. */
static bool find_node(struct rewrite *rewrite, const struct node *root, struct transposed *t)
{
    struct value *value = root->inputs[0];
    struct node *node = value->def;

    if (!node || (!value_only_user(value) && !only_quantized(rewrite, value, root)))
        return false;
    while (node && forward_op(node->op) == OP_COUNT) {
        if (!is_step(node) || t->n_steps == MOST_STEPS || !value_only_user(node->inputs[0]))
            return false;
        t->steps[t->n_steps++] = node;
        node = node->inputs[0]->def;
    }
    t->node = node;
    return node != NULL;
}

/* Whether a scale or zero point of the weights is one number, or one for each channel of y: along
 * the output channels, which all groups share, or the input ones of groups that have one each. */
static bool fits_channels(const struct transposed *t, const struct value *value)
{
    const int64_t n = type_elements(&value->type), axis = t->w->attrs.axis.axis;

    return n == 1 || (axis == 1 && n == t->phases.out_c) ||
           (axis == 0 && n == t->phases.groups && t->phases.in_c == 1);
}

/* What has an element for each old channel, each output channel of a group, or each group. */
enum along { CHANNELS, OUTPUTS, GROUPS };

static int64_t element_of(const struct transposed *t, enum along along, int64_t channel)
{
    return along == CHANNELS  ? channel
           : along == OUTPUTS ? channel % t->phases.out_c
                              : channel / t->phases.out_c;
}

static enum along along_of(const struct transposed *t)
{
    return t->w->attrs.axis.axis == 1 ? OUTPUTS : GROUPS;
}

/* A constant with an element for each new channel, in the same dim; one element for all stays as it
 * is. */
static struct value *each_phase(struct rewrite *rewrite, const struct transposed *t,
                                struct value *value, enum along along)
{
    struct type type = value->type;
    const size_t bytes = dtype_bytes(type.dtype);
    struct bulk bulk = { NULL, 0 };
    struct tensor from;
    char *to = NULL;

    if (type_elements(&type) == 1 && (along != CHANNELS || type.rank != 1))
        return value;
    for (int i = 0; i < type.rank; i++)
        if (type.dim[i] != 1 || type.rank == 1)
            type.dim[i] = polyphase_channels(&t->phases);
    type.quant = NULL;
    if (static_tensor(rewrite, value, &bulk, &from)) {
        to = constant_alloc(rewrite->fn, &type);
        for (int64_t i = 0; i < polyphase_channels(&t->phases); i++) {
            const int64_t at = element_of(t, along, polyphase_old_channel(&t->phases, i));

            memcpy(to + (size_t)i * bytes, (const char *)from.data + (size_t)at * bytes, bytes);
        }
    }
    bulk_release(&bulk);
    return to ? rule_constant_like(rewrite, value, &type, to) : NULL;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* The quantised values, (in_c, out_c of a group, kernel) -> (channels, in_c of a group, taps). What
 * stands for 0 is the zero point of the channel, whose elements are bytes as the quantised values
 * are. */
static void fill_weights(const struct transposed *t, const struct type *type, const uint8_t *from,
                         const struct tensor *zero, uint8_t *to)
{
    const struct polyphase *p = &t->phases;
    const int64_t taps = type_span(type, 2, type->rank);
    const int64_t kernel = type_span(&t->node->inputs[1]->type, 2, type->rank);
    const uint8_t *zeros = zero->data;
    const bool one_zero = type_elements(&zero->type) == 1;

    for (int64_t i = 0; i < type->dim[0]; i++) {
        const int64_t c = polyphase_old_channel(p, i), o = c % p->out_c, g = c / p->out_c;
        const uint8_t none = zeros[one_zero ? 0 : element_of(t, along_of(t), c)];

        for (int64_t ic = 0; ic < p->in_c; ic++)
            for (int64_t at = 0; at < taps; at++) {
                const int64_t place = polyphase_old_place(p, polyphase_phase(p, i), at);
                const int64_t old = ((g * p->in_c + ic) * p->out_c + o) * kernel + place;

                to[(i * p->in_c + ic) * taps + at] = place < 0 ? none : from[old];
            }
    }
}

/* The type of the new quantised values: that of an AFP keeps its codec. */
static struct type weight_type(struct rewrite *rewrite, const struct transposed *t)
{
    const struct type *old = &t->w->inputs[0]->type;
    struct type type = { .dtype = old->dtype,
                         .rank = old->rank,
                         .dim = { polyphase_channels(&t->phases), t->phases.in_c } };

    for (int i = 0; i < t->phases.rank; i++)
        type.dim[2 + i] = t->phases.dims[i].taps;
    if (old->dtype == DTYPE_AFP) {
        struct qtype *quant = arena_new(&rewrite->fn->module->arena, struct qtype);

        *quant = (struct qtype){ .kind = QTYPE_PLAIN, .format = old->quant->format };
        type.quant = quant;
    }
    return type;
}

static struct value *new_weights(struct rewrite *rewrite, const struct transposed *t)
{
    const struct type type = weight_type(rewrite, t);
    const bool is_cast = t->w->op == OP_CAST;
    const union attrs first = { .axis = { .axis = 0 } };
    uint8_t nothing = 0;
    struct bulk bulk = { NULL, 0 };
    struct tensor quantized, zero = { .type = type_scalar(DTYPE_U8), .data = &nothing };
    struct value *inputs[3] = { NULL };
    uint8_t *to;

    if (static_tensor(rewrite, t->w->inputs[0], &bulk, &quantized) &&
        (is_cast || static_tensor(rewrite, t->w->inputs[2], &bulk, &zero))) {
        to = constant_alloc(rewrite->fn, &type);
        fill_weights(t, &type, quantized.data, &zero, to);
        inputs[0] = rule_constant_like(rewrite, t->w->inputs[0], &type, to);
    }
    bulk_release(&bulk);
    if (!inputs[0] || is_cast)
        return rule_build(rewrite, OP_CAST, &t->w->attrs, 1, inputs);
    inputs[1] = each_phase(rewrite, t, t->w->inputs[1], along_of(t));
    inputs[2] = each_phase(rewrite, t, t->w->inputs[2], along_of(t));
    return rule_build(rewrite, OP_QNN_DEQUANTIZE, &first, 3, inputs);
}

/* --- the rules -------------------------------------------------------------------------------- */

static struct value *convolution(struct rewrite *rewrite, const struct transposed *t)
{
    union attrs attrs;
    struct conv_attrs *conv = &attrs.conv;

    memset(&attrs, 0, sizeof attrs);
    conv->groups = t->phases.groups;
    conv->padding = polyphase_padding(&t->phases);
    return rule_build2(rewrite, forward_op(t->node->op), &attrs, t->node->inputs[0],
                       new_weights(rewrite, t));
}

/* A bias that was decoded is decoded again. */
static struct value *bias_of(struct rewrite *rewrite, const struct transposed *t,
                             struct value *bias)
{
    const struct node *decoder = defined_by(bias, OP_QNN_DEQUANTIZE);
    struct value *inputs[3];

    if (!decoder)
        return each_phase(rewrite, t, bias, CHANNELS);
    rule_covers(rewrite, decoder);
    for (int i = 0; i < 3; i++)
        inputs[i] = i > 0 && type_elements(&decoder->inputs[i]->type) == 1
                        ? decoder->inputs[i]
                        : each_phase(rewrite, t, decoder->inputs[i], CHANNELS);
    return rule_build(rewrite, OP_QNN_DEQUANTIZE, &decoder->attrs, 3, inputs);
}

static struct value *with_steps(struct rewrite *rewrite, const struct transposed *t,
                                struct value *y)
{
    for (int i = t->n_steps - 1; i >= 0; i--) {
        const struct node *step = t->steps[i];
        const bool adds = step->op == OP_BIAS_ADD || step->op == OP_ADD;

        rule_covers(rewrite, step);
        y = adds ? rule_build2(rewrite, step->op, &step->attrs, y,
                               bias_of(rewrite, t, step->inputs[1]))
                 : rule_build1(rewrite, step->op, &step->attrs, y);
    }
    return y;
}

static struct value *in_space(struct rewrite *rewrite, const struct transposed *t, struct value *y)
{
    const struct type *wanted = &t->node->outputs[0]->type;
    union attrs block, slice;
    bool whole = true;

    memset(&block, 0, sizeof block);
    memset(&slice, 0, sizeof slice);
    block.block.mode = t->phases.groups == 1 ? "DCR" : "CRD";
    block.block.block_size = ints_fill(t->phases.rank, 1);
    slice.slice.begin = ints_fill(2 + t->phases.rank, 0);
    slice.slice.strides = ints_fill(2 + t->phases.rank, 1);
    slice.slice.size = ints_of(wanted->rank, wanted->dim);
    for (int i = 0; i < t->phases.rank; i++) {
        const struct polyphase_dim *d = &t->phases.dims[i];

        block.block.block_size.at[i] = d->stride;
        slice.slice.begin.at[2 + i] = d->shift;
        whole = whole && d->positions * d->stride == d->out;
    }
    if (t->phases.n > 1)
        y = rule_build1(rewrite, OP_DEPTH_TO_SPACE, &block, y);
    return whole ? y : rule_build1(rewrite, OP_STRIDED_SLICE, &slice, y);
}

static struct value *in_phases(struct rewrite *rewrite, struct node *root, struct transposed *t)
{
    const struct node *const prev = root->prev;
    struct value *inputs[3] = { NULL }, *y;

    if (!polyphase_of(t->node, &t->phases) ||
        t->node->attrs.conv_transpose.out_dtype != DTYPE_NONE ||
        (t->w->op == OP_QNN_DEQUANTIZE &&
         (!fits_channels(t, t->w->inputs[1]) || !fits_channels(t, t->w->inputs[2]))))
        return NULL;
    rule_covers(rewrite, t->x);
    rule_covers(rewrite, t->w);
    rule_covers(rewrite, t->node);
    for (int i = 1; i < root->n_inputs; i++)
        inputs[i] = root->inputs[i];
    inputs[0] = with_steps(rewrite, t, convolution(rewrite, t));
    y = in_space(rewrite, t, rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs));
    while (!y && root->prev != prev)
        node_remove(root->prev);
    return y;
}

/* quantize(transposed convolution of dequantize(x) and dequantize(w), with bias and bounds) ->
 * depth_to_space(quantize(convolution ...)), of which others make integers */
struct value *transposed_conv_to_polyphase(struct rewrite *rewrite, struct node *root)
{
    struct transposed t = { .n_steps = 0 };
    struct affine x, out;

    if (!affine_of(rewrite, root, root->outputs[0], &out) || !find_node(rewrite, root, &t))
        return NULL;
    t.x = dequantize_of(rewrite, t.node->inputs[0], &x);
    t.w = defined_by(t.node->inputs[1], OP_QNN_DEQUANTIZE);
    if (!t.x || !t.w ||
        (t.w->inputs[0]->type.dtype != DTYPE_I8 && t.w->inputs[0]->type.dtype != DTYPE_U8))
        return NULL;
    return in_phases(rewrite, root, &t);
}

static bool has_bytes(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    return format && minifloat_bits(format) == 8 && exact_greatest(format) > 0 &&
           !(type->quant && type->quant->kind == QTYPE_BLOCKS);
}

/* The same of FP8, for exact_product. */
struct value *exact_polyphase(struct rewrite *rewrite, struct node *root)
{
    struct transposed t = { .n_steps = 0 };
    struct small x, out;

    if (!encodes(rewrite, root, &out) || !find_node(rewrite, root, &t))
        return NULL;
    t.x = decoder_of(rewrite, t.node->inputs[0], &x);
    t.w = t.node->inputs[1]->def;
    if (!t.x || !t.w || (t.w->op != OP_QNN_DEQUANTIZE && t.w->op != OP_CAST) ||
        !has_bytes(&t.w->inputs[0]->type))
        return NULL;
    return in_phases(rewrite, root, &t);
}
