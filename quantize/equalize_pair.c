#include "quantize/equalize_pair.h"

#include <math.h>

#include "quantize/batch_norms.h"
#include "relay_ir/passes/rewrite.h"

/* --- what may stand between ------------------------------------------------------------------- */

/* f(s x) = s f(x) for factors s > 0 per channel; or what has to be done for it. */
enum passage { CLOSED, OPEN, OPEN_WINDOW, BIAS, BOUND, BOUNDS, SLOPE, VIEW, ZEROS };

static const enum passage passages[OP_COUNT] = {
    [OP_AVG_POOL1D] = OPEN_WINDOW,
    [OP_AVG_POOL2D] = OPEN_WINDOW,
    [OP_AVG_POOL3D] = OPEN_WINDOW,
    [OP_BIAS_ADD] = BIAS,
    [OP_CLIP] = BOUNDS,
    [OP_COPY] = OPEN,
    [OP_EXPAND_DIMS] = VIEW,
    [OP_GLOBAL_AVG_POOL] = OPEN_WINDOW,
    [OP_GLOBAL_MAX_POOL] = OPEN_WINDOW,
    [OP_LEAKY_RELU] = OPEN,
    [OP_MAXIMUM] = BOUND,
    [OP_MAX_POOL1D] = OPEN_WINDOW,
    [OP_MAX_POOL2D] = OPEN_WINDOW,
    [OP_MAX_POOL3D] = OPEN_WINDOW,
    [OP_MINIMUM] = BOUND,
    [OP_PAD] = ZEROS,
    [OP_PRELU] = SLOPE,
    [OP_RELU] = OPEN,
    [OP_RESHAPE] = VIEW,
    [OP_SQUEEZE] = VIEW,
};

static bool is_constant_f32(const struct node *node, int input)
{
    return node->inputs[input]->kind == VALUE_CONSTANT &&
           node->inputs[input]->type.dtype == DTYPE_F32;
}

/* Whether factors along the axis pass; *axis becomes that of the result. */
static bool passes(const struct node *node, int *axis, bool with_clips, int64_t *repeat)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    int64_t times;

    switch (passages[node->op]) {
    case OPEN: return true;
    case OPEN_WINDOW: return *axis == 1;
    case BIAS: return is_constant_f32(node, 1) && type_axis(x, node->attrs.axis.axis) == *axis;
    case BOUND:
        return is_constant_f32(node, 1) && is_per_axis(&node->inputs[1]->type, y, *axis) &&
               type_same_shape(x, y);
    case BOUNDS: return with_clips && node->attrs.clip.a_min <= node->attrs.clip.a_max;
    case SLOPE: return node->inputs[1]->kind == VALUE_CONSTANT && type_same_shape(x, y);
    case VIEW:
        *axis = axis_after_view(x, *axis, y, &times);
        *repeat *= times;
        return *axis >= 0;
    case ZEROS:
        return node->attrs.pad.value == 0 && node->attrs.pad.pad_before.at[*axis] == 0 &&
               node->attrs.pad.pad_after.at[*axis] == 0;
    default: return false;
    }
}

/* Channels that were repeated have no vector along them any more. */
static bool passes_repeated(enum op op)
{
    return passages[op] == OPEN;
}

struct node *pair_end(const struct node *product, int axis, bool with_clips, int64_t *repeat)
{
    struct node *node = value_only_user(product->outputs[0]);
    const struct value *data = product->outputs[0];
    struct linear linear;

    *repeat = 1;
    while (node && node->n_outputs == 1 && node->n_inputs > 0 && node->inputs[0] == data) {
        if (linear_of(node, &linear))
            return linear.in_axis == axis ? node : NULL;
        if ((*repeat > 1 && !passes_repeated(node->op)) || !passes(node, &axis, with_clips, repeat))
            return NULL;
        data = node->outputs[0];
        node = value_only_user(data);
    }
    return NULL;
}

/* --- weights ---------------------------------------------------------------------------------- */

double block_factor(const struct equal_layer *layer, int64_t block)
{
    int64_t in, out;
    double factor = 1;

    linear_channels(&layer->linear, block, &in, &out);
    if (layer->in)
        factor *= layer->in->factor[in / layer->in->repeat];
    if (layer->out)
        factor /= layer->out->factor[out];
    return factor;
}

void layer_rewrite(const struct equal_layer *layer)
{
    const struct value *old = layer->node->inputs[1];
    const float *from = old->data;
    float *to;

    if (!layer->in && !layer->out)
        return;
    to = constant_alloc(layer->node->fn, &old->type);
    for (int64_t block = 0, at = 0; block < linear_blocks(&layer->linear); block++) {
        const double factor = block_factor(layer, block);

        for (int64_t i = 0; i < layer->linear.taps; i++, at++)
            to[at] = (float)((double)from[at] * factor);
    }
    constant_exchange(layer->node, 1, &old->type, to);
}

/* --- what stands between ---------------------------------------------------------------------- */

/* A vector along the axis: number(c) / factor[c]. */
static float *divided(const struct equal_pair *pair, struct function *fn, const struct type *type,
                      const struct value *numbers, double number)
{
    float *data = constant_alloc(fn, type);

    for (int64_t c = 0; c < pair->n; c++) {
        if (numbers)
            number =
                dtype_load(DTYPE_F32, numbers->data, type_elements(&numbers->type) == 1 ? 0 : c);
        data[c] = (float)(number / pair->factor[c]);
    }
    return data;
}

static void divide_constant(const struct equal_pair *pair, struct node *node, int axis)
{
    const struct type *y = &node->outputs[0]->type;
    const struct type type =
        node->op == OP_BIAS_ADD ? type_make(DTYPE_F32, 1, &pair->n) : along_axis(y, axis);

    constant_exchange(node, 1, &type, divided(pair, node->fn, &type, node->inputs[1], 0));
}

/* Before the clip: max(x, low / s), min(x, high / s); relu where the bound is 0. */
static struct value *build_bound(const struct equal_pair *pair, struct node *clip, struct value *x,
                                 int axis, enum op op, double bound)
{
    struct arena *scratch = &clip->fn->module->ctx->scratch;
    const char *name = clip->outputs[0]->name;
    const struct type type = along_axis(&x->type, axis);
    struct value *inputs[2] = { x };

    if (op == OP_MAXIMUM && bound == 0)
        return build(clip->fn, OP_RELU, NULL, arena_printf(scratch, "%s.relu", name), clip->origin,
                     clip, 1, inputs);
    inputs[1] = constant_new(clip->fn, arena_printf(scratch, "%s.%s", name, op_name(op)), &type,
                             divided(pair, clip->fn, &type, NULL, bound));
    return build(clip->fn, op, NULL, arena_printf(scratch, "%s.%s", name, op_name(op)),
                 clip->origin, clip, 2, inputs);
}

static struct node *replace_clip(const struct equal_pair *pair, struct node *clip, int axis)
{
    struct value *x = clip->inputs[0], *y = x;

    if (clip->attrs.clip.a_min > -INFINITY)
        y = build_bound(pair, clip, y, axis, OP_MAXIMUM, clip->attrs.clip.a_min);
    if (y && clip->attrs.clip.a_max < INFINITY)
        y = build_bound(pair, clip, y, axis, OP_MINIMUM, clip->attrs.clip.a_max);
    if (!y || y == x)
        return y ? clip : NULL;
    value_supplant(clip->outputs[0], y);
    node_remove(clip);
    return y->def;
}

static void scale_statistics(struct quantization *q, const struct equal_pair *pair,
                             const struct value *value)
{
    struct arena arena = { NULL };
    double *inverse = arena_array(&arena, double, pair->n);

    for (int64_t c = 0; c < pair->n; c++)
        inverse[c] = 1 / pair->factor[c];
    if (q->statistics)
        batch_norms_scale(q->statistics, value->name, inverse, pair->n);
    arena_release(&arena);
}

bool pair_rewrite(struct quantization *q, const struct equal_pair *pair)
{
    struct node *node = pair->first->node;
    int axis = pair->first->linear.out_axis;
    int64_t repeat = 1;

    while (node && node != pair->second->node) {
        const bool passed = node == pair->first->node || passes(node, &axis, true, &repeat);

        if (!passed)
            return false; /* cannot be: pair_end came this way */
        switch (passages[node->op]) {
        case BIAS:
        case BOUND: divide_constant(pair, node, axis); break;
        case BOUNDS: node = replace_clip(pair, node, axis); break;
        default: break;
        }
        if (!node)
            return false;
        if (repeat == 1)
            scale_statistics(q, pair, node->outputs[0]);
        node = value_only_user(node->outputs[0]);
    }
    return true;
}
