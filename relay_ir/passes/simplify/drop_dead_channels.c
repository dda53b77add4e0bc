/* drop_dead_channels.c - leaves out channels between two convolutions of integers that hold the same code, whatever the
 * input.
 *
 * needs    types; weights, biases and scales are constants
 * gives    fewer channels of a qnn.conv2d that only another qnn.conv2d reads, behind biases, scales, bounds and
 *          depthwise convolutions: weights of a channel are not all 0
 *
 * Training gives channels up: weights decay to 0, or are pruned. A channel of such weights is its bias, rescaled; what
 * the reader's sums get of it is added to the reader's biases. What a dead channel holds the reference evaluator
 * says, of the same operators on dead channels alone: so it may also be found that it is not the same everywhere,
 * because a depthwise convolution pads it. As many channels stay that their number is a multiple of four, which
 * kernels take at once. */
#include <string.h>

#include "relay_ir/interpret.h"
#include "relay_ir/passes/pipeline.h"

enum { MOST_LINKS = 16, LANES = 4 };

/* producer -> link -> ... -> reader, one reader each. */
struct chain {
    struct module *module;
    struct node *producer, *reader, *bias; /* bias: what adds the reader's biases */
    int n_links;
    struct node *links[MOST_LINKS];
    int64_t n_channels, n_dead;
    bool *dead; /* [n_channels] */
};

static bool is_zero(const struct value *value)
{
    double number;

    return value_uniform(value, &number) && number == 0;
}

static bool is_conv(const struct node *node)
{
    return node->op == OP_QNN_CONV2D && node->inputs[1]->kind == VALUE_CONSTANT &&
           node->inputs[2]->kind == VALUE_CONSTANT && is_zero(node->inputs[3]) &&
           strcmp(node->attrs.conv.data_layout, "NCHW") == 0;
}

static bool is_dense_conv(const struct node *node)
{
    return is_conv(node) && node->attrs.conv.groups == 1 &&
           type_elements(&node->inputs[2]->type) == 1;
}

/* One filter for each channel. */
static bool is_depthwise(const struct node *node, int64_t n_channels)
{
    return is_conv(node) && node->attrs.conv.groups == n_channels &&
           node->inputs[1]->type.dim[0] == n_channels && type_elements(&node->inputs[2]->type) == 1;
}

/* Operators that compute each channel by itself, with constants that are numbers or lists along the channels. */
static bool is_link(const struct node *node, int64_t n_channels)
{
    if (is_depthwise(node, n_channels))
        return true;
    if (!(node->op == OP_BIAS_ADD && node->attrs.axis.axis == 1) && node->op != OP_QNN_REQUANTIZE &&
        node->op != OP_CLIP)
        return false;
    for (int i = 1; i < node->n_inputs; i++) {
        const struct value *input = node->inputs[i];
        const int64_t n = input->kind == VALUE_CONSTANT ? type_elements(&input->type) : 0;

        if (n != 1 && (n != n_channels || input->type.rank != 1))
            return false;
    }
    return node->op != OP_QNN_REQUANTIZE || type_elements(&node->inputs[1]->type) == 1 ||
           node->attrs.requantize.axis == 1;
}

static bool find_chain(struct node *producer, struct chain *chain)
{
    struct node *node = producer;

    *chain = (struct chain){ .module = producer->fn->module,
                             .producer = producer,
                             .n_channels = producer->inputs[1]->type.dim[0] };
    while ((node = value_only_user(node->outputs[0])) && !is_dense_conv(node)) {
        if (chain->n_links == MOST_LINKS || !is_link(node, chain->n_channels))
            return false;
        chain->links[chain->n_links++] = node;
    }
    if (!node || node->inputs[0]->def == producer)
        return false;
    chain->reader = node;
    chain->bias = value_only_user(node->outputs[0]);
    return chain->bias && chain->bias->op == OP_BIAS_ADD && chain->bias->attrs.axis.axis == 1 &&
           chain->bias->inputs[1]->kind == VALUE_CONSTANT;
}

static void find_dead(struct chain *chain)
{
    const struct value *weights = chain->producer->inputs[1];
    const size_t bytes = type_bytes(&weights->type) / (size_t)chain->n_channels;
    const uint8_t *data = weights->data;

    chain->dead = arena_array(&chain->module->ctx->scratch, bool, chain->n_channels);
    for (int64_t c = 0; c < chain->n_channels; c++) {
        const uint8_t *row = data + (size_t)c * bytes;

        chain->dead[c] = row[0] == 0 && memcmp(row, row + 1, bytes - 1) == 0;
        chain->n_dead += chain->dead[c];
    }
}

/* --- constants of some channels ------------------------------------------------------------------ */

/* Channels of a constant that are dead or not, along `axis`; what is one number stays. */
static struct value *some_of(const struct chain *chain, struct value *constant, int axis, bool dead)
{
    const struct type *from = &constant->type;
    struct type type = *from;
    int64_t rows = 1;
    size_t bytes;
    uint8_t *data, *to;

    if (from->rank == 0 || from->dim[axis] != chain->n_channels)
        return constant;
    for (int d = 0; d < axis; d++)
        rows *= from->dim[d];
    bytes = type_bytes(from) / (size_t)(rows * chain->n_channels);
    type.dim[axis] = dead ? chain->n_dead : chain->n_channels - chain->n_dead;
    to = data = constant_alloc(constant->fn, &type);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < chain->n_channels; c++)
            if (chain->dead[c] == dead) {
                memcpy(to,
                       (const uint8_t *)constant->data +
                           (size_t)(r * chain->n_channels + c) * bytes,
                       bytes);
                to += bytes;
            }
    return constant_new(constant->fn, constant->name, &type, data);
}

/* The model's names are those of all channels. */
static const char *name_of(const struct chain *chain, const struct node *node, bool dead)
{
    return arena_printf(&chain->module->arena, "%s.%s", node->outputs[0]->name,
                        dead ? "dead" : "alive");
}

/* The links on x, which has the channels that are dead or not. NULL after an error. */
static struct value *links_on(const struct chain *chain, struct value *x, bool dead)
{
    for (int i = 0; i < chain->n_links && x; i++) {
        const struct node *link = chain->links[i];
        union attrs attrs = link->attrs;
        struct value *inputs[5] = { x };

        if (link->op == OP_QNN_CONV2D)
            attrs.conv.groups = x->type.dim[1];
        for (int k = 1; k < link->n_inputs; k++)
            inputs[k] = some_of(chain, link->inputs[k], 0, dead);
        x = build(link->fn, link->op, &attrs, name_of(chain, link, dead), link->origin,
                  chain->reader, link->n_inputs, inputs);
    }
    return x;
}

static void remove_back_to(struct value *value, const struct value *end)
{
    while (value && value != end) {
        struct node *node = value->def;

        value = node->inputs[0];
        node_remove(node);
    }
}

/* What dead channels hold where the reader reads them. False: they are too large, or something failed. */
static bool quantized_of_dead(const struct chain *chain, struct bulk *bulk,
                              struct tensor *quantized)
{
    struct type type = chain->producer->outputs[0]->type;
    struct function *fn = chain->producer->fn;
    struct value *sums, *value;
    bool ok;

    type.dim[1] = chain->n_dead;
    if (!constants_fit(chain->module, (double)type_bytes(&type), chain->producer->origin))
        return false;
    sums = constant_new(fn, "dead", &type, constant_alloc(fn, &type));
    value = links_on(chain, sums, true);
    ok = value && interpret_within_limits(chain->module->ctx, value, type_elements(&value->type),
                                          bulk, quantized);
    remove_back_to(value, sums);
    return ok;
}

/* --- dropping ------------------------------------------------------------------------------------ */

static bool is_padded(const struct node *conv)
{
    for (int i = 0; i < conv->attrs.conv.padding.n; i++)
        if (conv->attrs.conv.padding.at[i] != 0)
            return true;
    return false;
}

/* Channels that do not hold one code, or one that the reader's padding is not, are not dead after all; then those
 * beyond a multiple of LANES. quantized[]: of the channels that were dead. */
static void keep_some(struct chain *chain, const struct tensor *quantized, int64_t *held)
{
    const struct tensor zero = value_tensor(chain->reader->inputs[2]);
    const int64_t rows = quantized->type.dim[0], n = quantized->type.dim[1];
    const int64_t size = type_elements(&quantized->type) / (rows * n);
    int64_t missing;

    for (int64_t c = 0, i = 0; c < chain->n_channels; c++) {
        if (!chain->dead[c])
            continue;
        held[c] = tensor_int_at(quantized, i * size);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = 0; k < size; k++)
                if (tensor_int_at(quantized, (r * n + i) * size + k) != held[c])
                    chain->dead[c] = false;
        if (is_padded(chain->reader) && held[c] != tensor_int_at(&zero, 0))
            chain->dead[c] = false;
        chain->n_dead -= !chain->dead[c];
        i++;
    }
    missing = (LANES - (chain->n_channels - chain->n_dead) % LANES) % LANES;
    for (int64_t c = chain->n_channels; c-- > 0 && missing > 0;)
        if (chain->dead[c]) {
            chain->dead[c] = false;
            chain->n_dead--;
            missing--;
        }
}

/* The reader's biases, with its weights times what dead channels hold. NULL where that exceeds 32 bits. */
static struct value *biases(const struct chain *chain, const int64_t *held)
{
    const struct value *weights = chain->reader->inputs[1], *bias = chain->bias->inputs[1];
    const struct tensor w = value_tensor(weights), b = value_tensor(bias),
                        zero = value_tensor(chain->reader->inputs[2]);
    const int64_t n = type_elements(&bias->type);
    const int64_t taps = type_elements(&weights->type) / (weights->type.dim[0] * chain->n_channels);
    int32_t *sums = constant_alloc(bias->fn, &bias->type);

    for (int64_t o = 0; o < n; o++) {
        int64_t sum = tensor_int_at(&b, o);

        for (int64_t c = 0; c < chain->n_channels; c++)
            for (int64_t k = 0; chain->dead[c] && k < taps; k++)
                sum += tensor_int_at(&w, (o * chain->n_channels + c) * taps + k) *
                       (held[c] - tensor_int_at(&zero, 0));
        if (sum != (int32_t)sum)
            return NULL;
        sums[o] = (int32_t)sum;
    }
    return constant_new(bias->fn, bias->name, &bias->type, sums);
}

static struct value *conv_of(const struct chain *chain, const struct node *conv, struct value *x,
                             struct value *weights)
{
    return build(conv->fn, conv->op, &conv->attrs, name_of(chain, conv, false), conv->origin,
                 chain->reader, 4,
                 (struct value *const[]){ x, weights, conv->inputs[2], conv->inputs[3] });
}

static bool drop(struct chain *chain, const int64_t *held)
{
    struct node *producer = chain->producer, *reader = chain->reader;
    struct value *bias = biases(chain, held), *x;

    if (!bias)
        return true;
    x = conv_of(chain, producer, producer->inputs[0],
                some_of(chain, producer->inputs[1], 0, false));
    x = x ? links_on(chain, x, false) : NULL;
    x = x ? conv_of(chain, reader, x, some_of(chain, reader->inputs[1], 1, false)) : NULL;
    if (!x)
        return false;
    node_set_input(chain->bias, 1, bias);
    value_supplant(reader->outputs[0], x);
    remove_back_to(reader->outputs[0], producer->inputs[0]);
    return true;
}

/* *next: the node to go on with. */
static bool drop_behind(struct node *producer, struct node **next)
{
    struct chain chain;
    struct tensor quantized;
    int64_t *held;

    if (!find_chain(producer, &chain) || chain.bias->inputs[1]->type.dtype != DTYPE_I32)
        return true;
    find_dead(&chain);
    if (chain.n_dead == 0 || chain.n_dead == chain.n_channels)
        return true;
    held = arena_array(&chain.module->ctx->scratch, int64_t, chain.n_channels);
    if (!quantized_of_dead(&chain, &chain.module->bulk, &quantized))
        return chain.module->ctx->diags.n_errors == 0;
    keep_some(&chain, &quantized, held);
    if (chain.n_dead > 0 && !drop(&chain, held))
        return false;
    *next = chain.n_dead > 0 ? chain.bias->inputs[0]->def : *next;
    return true;
}

bool pass_drop_dead_channels(struct module *module)
{
    struct node *next;

    for (struct node *node = module->main->first; node; node = next) {
        next = node->next;
        if (is_dense_conv(node) && !drop_behind(node, &next))
            return false;
    }
    return true;
}
