#include "quantize/expectation.h"

#include <math.h>

#include "quantize/linear.h"
#include "relay_ir/passes/rewrite.h"
#include "relay_ir/products.h"

struct search {
    struct ctx *ctx;
    struct arena *arena;
    const struct expectation **known; /* by value id */
    bool through;                     /* products */
};

static const struct expectation *known_of(const struct search *s, const struct value *value)
{
    return value ? s->known[value->id] : NULL;
}

static struct expectation *expectation_new(const struct search *s, int axis, int64_t n)
{
    struct expectation *e = arena_new(s->arena, struct expectation);

    e->axis = axis;
    e->n = n;
    e->channels = arena_array(s->arena, struct clipped_normal, n);
    return e;
}

static struct expectation *copy_of(const struct search *s, const struct expectation *x)
{
    struct expectation *y = expectation_new(s, x->axis, x->n);

    for (int64_t i = 0; i < x->n; i++)
        y->channels[i] = x->channels[i];
    return y;
}

/* --- operators with a constant operand -------------------------------------------------------- */

/* One number per channel, or one for all. */
static bool is_per_channel(const struct value *constant, const struct type *type, int axis)
{
    return constant && constant->kind == VALUE_CONSTANT && dtype_is_float(constant->type.dtype) &&
           is_per_axis(&constant->type, type, axis);
}

static double number_of(const struct value *constant, int64_t channel)
{
    return dtype_load(constant->type.dtype, constant->data,
                      type_elements(&constant->type) == 1 ? 0 : channel);
}

static struct clipped_normal combine(enum op op, const struct clipped_normal *x, double c,
                                     bool constant_first)
{
    switch (op) {
    case OP_ADD:
    case OP_BIAS_ADD: return clipped_linear(x, 1, c);
    case OP_SUBTRACT: return constant_first ? clipped_linear(x, -1, c) : clipped_linear(x, 1, -c);
    case OP_MULTIPLY: return clipped_linear(x, c, 0);
    case OP_DIVIDE: return clipped_linear(x, 1 / c, 0);
    case OP_MAXIMUM: return clipped_clip(x, c, INFINITY);
    case OP_MINIMUM: return clipped_clip(x, -INFINITY, c);
    default: return clipped_leaky(x, c); /* prelu */
    }
}

/* The mean of a sum, and its variance if the parts are independent. */
static const struct expectation *sum_of(const struct search *s, const struct node *node,
                                        const struct expectation *a, const struct expectation *b)
{
    struct expectation *y;

    if (!a || !b || a->axis != b->axis || a->n != b->n ||
        !type_same_shape(&node->inputs[0]->type, &node->inputs[1]->type))
        return NULL;
    y = expectation_new(s, a->axis, a->n);
    for (int64_t i = 0; i < a->n; i++) {
        const double sign = node->op == OP_ADD ? 1 : -1;

        y->channels[i] =
            normal_of(clipped_mean(&a->channels[i]) + sign * clipped_mean(&b->channels[i]),
                      sqrt(clipped_variance(&a->channels[i]) + clipped_variance(&b->channels[i])));
    }
    return y;
}

static const struct expectation *of_binary(const struct search *s, const struct node *node)
{
    const struct type *type = &node->outputs[0]->type;
    const bool first = node->inputs[0]->kind == VALUE_CONSTANT;
    const struct value *constant = node->inputs[first ? 0 : 1];
    const struct expectation *x = known_of(s, node->inputs[first ? 1 : 0]);
    struct expectation *y;

    if (constant->kind != VALUE_CONSTANT)
        return node->op == OP_ADD || node->op == OP_SUBTRACT
                   ? sum_of(s, node, x, known_of(s, constant))
                   : NULL;
    if (!x || (first && (node->op == OP_DIVIDE || node->op == OP_PRELU)) ||
        !type_same_shape(&node->inputs[first ? 1 : 0]->type, type))
        return NULL;
    if (node->op == OP_BIAS_ADD ? type_axis(type, node->attrs.axis.axis) != x->axis
                                : !is_per_channel(constant, type, x->axis))
        return NULL;
    y = expectation_new(s, x->axis, x->n);
    for (int64_t i = 0; i < x->n; i++) {
        y->channels[i] = combine(node->op, &x->channels[i], number_of(constant, i), first);
        if (!isfinite(y->channels[i].mean) || !isfinite(y->channels[i].deviation))
            return NULL;
    }
    return y;
}

/* --- operators with one input ----------------------------------------------------------------- */

static const struct expectation *of_bounds(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    const double low = node->op == OP_RELU ? 0 : node->attrs.clip.a_min;
    const double high = node->op == OP_RELU ? INFINITY : node->attrs.clip.a_max;
    struct expectation *y = copy_of(s, x);

    for (int64_t i = 0; i < x->n; i++)
        y->channels[i] = clipped_clip(&x->channels[i], low, high);
    return y;
}

static const struct expectation *of_leaky(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    struct expectation *y = copy_of(s, x);

    for (int64_t i = 0; i < x->n; i++)
        y->channels[i] = clipped_leaky(&x->channels[i], node->attrs.alpha_beta.alpha);
    return y;
}

/* Averages: the mean stays. So does the deviation, which then is too great, as the numbers in one
 * window are not independent. */
static const struct expectation *of_average(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    struct expectation *y = copy_of(s, x);

    for (int64_t i = 0; i < x->n; i++)
        y->channels[i] = clipped_flatten(&x->channels[i]);
    if (node->op == OP_MEAN) {
        const struct reduce_attrs *reduce = &node->attrs.reduce;

        if (ints_has(&reduce->axis, x->axis))
            return NULL;
        for (int i = 0; i < reduce->axis.n && !reduce->keepdims; i++)
            y->axis -= reduce->axis.at[i] < x->axis;
    }
    return y;
}

static const struct expectation *of_same(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    const struct type *to = &node->outputs[0]->type;

    return to->rank == node->inputs[0]->type.rank && to->dim[x->axis] == x->n ? x : NULL;
}

/* Where the view makes one axis of channels and positions, each channel is repeated. */
static const struct expectation *of_view(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    int64_t repeat;
    const int axis =
        axis_after_view(&node->inputs[0]->type, x->axis, &node->outputs[0]->type, &repeat);
    struct expectation *y;

    if (axis < 0)
        return NULL;
    y = expectation_new(s, axis, x->n * repeat);
    for (int64_t i = 0; i < y->n; i++)
        y->channels[i] = x->channels[i / repeat];
    return y;
}

static const struct expectation *of_transpose(const struct search *s, const struct node *node)
{
    const struct ints *axes = &node->attrs.axes.axes;
    const struct expectation *x = known_of(s, node->inputs[0]);
    struct expectation *y = copy_of(s, x);

    y->axis = node->inputs[0]->type.rank - 1 - x->axis;
    for (int i = 0; i < axes->n; i++)
        if (axes->at[i] == x->axis)
            y->axis = i;
    return y;
}

static const struct expectation *part_of(const struct search *s, const struct expectation *x,
                                         int64_t begin, int64_t step, int64_t n)
{
    struct expectation *y = expectation_new(s, x->axis, n);

    for (int64_t i = 0; i < n; i++)
        y->channels[i] = x->channels[begin + i * step];
    return y;
}

static const struct expectation *of_slice(const struct search *s, const struct node *node)
{
    const struct slice_attrs *slice = &node->attrs.slice;
    const struct expectation *x = known_of(s, node->inputs[0]);

    return part_of(s, x, slice->begin.at[x->axis], slice->strides.at[x->axis],
                   slice->size.at[x->axis]);
}

static void see_split(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    int64_t begin = 0;

    for (int i = 0; i < node->n_outputs && x; i++) {
        const int64_t n = node->outputs[i]->type.dim[x->axis];
        const bool cut = node->attrs.split.axis == x->axis;

        s->known[node->outputs[i]->id] = cut ? part_of(s, x, begin, 1, n) : x;
        begin += n;
    }
}

static const struct expectation *of_unary(const struct search *s, const struct node *node)
{
    const struct expectation *x = known_of(s, node->inputs[0]);
    struct expectation *y = copy_of(s, x);

    return expectation_unary(s->ctx, node, x, y->channels) ? y : NULL;
}

/* --- all -------------------------------------------------------------------------------------- */

static const struct expectation *of_concatenate(const struct search *s, const struct node *node)
{
    const struct expectation *first = known_of(s, node->inputs[0]);
    const int axis = (int)node->attrs.axis.axis;
    struct expectation *y;
    int64_t at = 0;

    for (int i = 0; i < node->n_inputs; i++) {
        const struct expectation *x = known_of(s, node->inputs[i]);

        if (!x || x->axis != axis)
            return NULL;
    }
    y = expectation_new(s, first->axis, node->outputs[0]->type.dim[axis]);
    for (int i = 0; i < node->n_inputs; i++) {
        const struct expectation *x = known_of(s, node->inputs[i]);

        for (int64_t k = 0; k < x->n; k++)
            y->channels[at++] = x->channels[k];
    }
    return y;
}

/* Of one input, about which something is known. */
static const struct expectation *(*const rows[OP_COUNT])(const struct search *s,
                                                         const struct node *node) = {
    [OP_AVG_POOL1D] = of_average,
    [OP_AVG_POOL2D] = of_average,
    [OP_AVG_POOL3D] = of_average,
    [OP_CLIP] = of_bounds,
    [OP_COPY] = of_same,
    [OP_EXPAND_DIMS] = of_view,
    [OP_GLOBAL_AVG_POOL] = of_average,
    [OP_LEAKY_RELU] = of_leaky,
    [OP_MEAN] = of_average,
    [OP_PAD] = of_same,
    [OP_RELU] = of_bounds,
    [OP_RESHAPE] = of_view,
    [OP_RESIZE] = of_same,
    [OP_SQUEEZE] = of_view,
    [OP_STRIDED_SLICE] = of_slice,
    [OP_TRANSPOSE] = of_transpose,
};

static const struct expectation *of_product(const struct search *s, const struct node *node)
{
    struct expectation *y = arena_new(s->arena, struct expectation);

    return s->through && node->n_inputs == 2 &&
                   expectation_product(s->ctx, node, known_of(s, node->inputs[0]), y, s->arena)
               ? y
               : NULL;
}

static const struct expectation *find(const struct search *s, const struct node *node)
{
    switch (node->op) {
    case OP_ADD:
    case OP_BIAS_ADD:
    case OP_DIVIDE:
    case OP_MAXIMUM:
    case OP_MINIMUM:
    case OP_MULTIPLY:
    case OP_PRELU:
    case OP_SUBTRACT: return of_binary(s, node);
    case OP_CONCATENATE: return of_concatenate(s, node);
    default: break;
    }
    if (node->n_inputs < 1 || !known_of(s, node->inputs[0]))
        return NULL;
    if (is_product(node->op))
        return of_product(s, node);
    if (rows[node->op])
        return rows[node->op](s, node);
    return node->n_inputs == 1 && op_row(node->op)->pattern == PATTERN_ELEMWISE &&
                   node->op != OP_CAST
               ? of_unary(s, node)
               : NULL;
}

/* What a batch norm says. */
static const struct expectation *of_batch_norm(const struct search *s, const struct value *value,
                                               const struct batch_norms *norms)
{
    const struct batch_norm *norm = batch_norms_find(norms, value->name);
    struct expectation *e;

    if (!norm || norm->axis >= value->type.rank || value->type.dim[norm->axis] != norm->n)
        return NULL;
    e = expectation_new(s, norm->axis, norm->n);
    for (int64_t i = 0; i < norm->n; i++)
        e->channels[i] = normal_of(norm->mean[i], norm->deviation[i]);
    return e;
}

static const struct expectation **propagate(struct ctx *ctx, struct arena *arena,
                                            struct function *fn, const struct batch_norms *norms,
                                            bool through)
{
    struct search s = { .ctx = ctx, .arena = arena, .through = through };

    function_number(fn);
    s.known = arena_array(arena, const struct expectation *, fn->n_values);
    for (const struct node *node = fn->first; node; node = node->next) {
        const struct value *value = node->n_outputs == 1 ? node->outputs[0] : NULL;

        if (node->op == OP_SPLIT)
            see_split(&s, node);
        if (!value || !dtype_is_float(value->type.dtype))
            continue;
        s.known[value->id] = of_batch_norm(&s, value, norms);
        if (!s.known[value->id])
            s.known[value->id] = find(&s, node);
    }
    return s.known;
}

const struct expectation **expectations(struct ctx *ctx, struct arena *arena, struct function *fn,
                                        const struct batch_norms *norms)
{
    return propagate(ctx, arena, fn, norms, false);
}

const struct expectation **expectations_through(struct ctx *ctx, struct arena *arena,
                                                struct function *fn,
                                                const struct batch_norms *norms)
{
    return propagate(ctx, arena, fn, norms, true);
}
