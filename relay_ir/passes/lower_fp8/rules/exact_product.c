/* exact_product.c - encode(epilogue(product(decode(x), decode(w)))) in integers.
 *
 * The product counts in units of x_scale * w_scale * 2^(units of both formats), one for each output
 * channel. Biases and bounds are rounded to them here. A sum with FP8 data (a residual) is one in
 * units of a small part of the result's least step, which the product is brought to before. */
#include <math.h>
#include <string.h>

#include "relay_ir/interpret.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/products.h"

enum { MAX_STEPS = 8 };

/* The greatest magnitude of each thing that is added or compared with, and of the sum of products:
 * what comes together stays below 2^63. */
static const double most = 0x1p58, most_products = 0x1p62;

struct step {
    const struct node *node;
    struct value *number;        /* bias: the constant */
    const struct node *residual; /* its decoder */
    struct small residual_small;
};

struct product {
    struct node *node; /* the operator on floats */
    const struct node *x, *w;
    struct small in, out;
    const struct minifloat *w_format;
    int axis;         /* of the output channels, in the output; -1: one channel */
    int64_t channels; /* 1 with one unit for all */
    int n_steps;
    struct step steps[MAX_STEPS]; /* what stands behind the product, the last one first */
    double *units;                /* [channels], of the integers now */
};

static enum op exact_op(enum op op)
{
    switch (op) {
    case OP_CONV1D: return OP_QNN_CONV1D;
    case OP_CONV2D: return OP_QNN_CONV2D;
    case OP_CONV3D: return OP_QNN_CONV3D;
    case OP_DENSE: return OP_QNN_DENSE;
    case OP_MATMUL: return OP_QNN_MATMUL;
    default: return OP_COUNT;
    }
}

static int output_axis(const struct node *node)
{
    return op_spatial_rank(node->op) ? 1 : node->outputs[0]->type.rank - 1;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* One step back from `value`, which `step` is filled with; the value that it goes on with, or NULL
 * where it has no integer form. */
static struct value *step_back(struct rewrite *rewrite, const struct value *value,
                               struct step *step)
{
    struct node *node = value->def;

    *step = (struct step){ .node = node };
    if (!node)
        return NULL;
    if (node->op == OP_RELU)
        return node->inputs[0];
    if (node->op == OP_CLIP)
        return node->attrs.clip.a_min <= node->attrs.clip.a_max ? node->inputs[0] : NULL;
    if (node->op != OP_BIAS_ADD && node->op != OP_ADD)
        return NULL;
    for (int side = node->op == OP_BIAS_ADD ? 1 : 0; side < 2; side++) {
        struct value *other = node->inputs[1 - side];

        if (!type_same_shape(&other->type, &node->outputs[0]->type))
            continue;
        step->number = node->inputs[side];
        if (step->number->kind == VALUE_CONSTANT)
            return other;
        step->residual =
            node->op == OP_ADD ? decoder_of(rewrite, step->number, &step->residual_small) : NULL;
        if (step->residual)
            return other;
    }
    return NULL;
}

static bool find_product_node(struct rewrite *rewrite, const struct node *root, struct product *p)
{
    struct value *value = root->inputs[0];
    const struct node *reader = root;

    while (value && value->def && read_once(value, reader)) {
        if (exact_op(value->def->op) != OP_COUNT) {
            p->node = value->def;
            return true;
        }
        if (p->n_steps == MAX_STEPS)
            return false;
        reader = value->def;
        value = step_back(rewrite, value, &p->steps[p->n_steps++]);
    }
    return false;
}

/* Weights: quantised values behind a dequantize with one scale or one for each output channel, or a cast. */
static bool find_weights(struct product *p)
{
    const struct node *node = p->node->inputs[1]->def;
    int rank;

    if (!node || (node->op != OP_QNN_DEQUANTIZE && node->op != OP_CAST) ||
        p->node->inputs[1]->type.dtype != DTYPE_F32)
        return false;
    p->w = node;
    p->w_format = type_minifloat(&node->inputs[0]->type);
    if (!p->w_format || minifloat_bits(p->w_format) != 8 || !exact_greatest(p->w_format))
        return false;
    p->axis = output_axis(p->node);
    p->channels = node->op == OP_CAST ? 1 : type_elements(&node->inputs[1]->type);
    return p->channels == 1 || (node->inputs[0]->kind == VALUE_CONSTANT &&
                                node->attrs.axis.axis == product_channel_axis(p->node, &rank));
}

static bool sums_fit(const struct product *p)
{
    const struct type *w = &p->w->inputs[0]->type;
    const bool turned = p->node->op == OP_MATMUL && p->node->attrs.matmul.transpose_b;
    const int64_t terms =
        p->node->op != OP_MATMUL ? type_span(w, 1, w->rank) : w->dim[w->rank - (turned ? 1 : 2)];

    return (double)terms * (double)exact_greatest(p->in.format) *
               (double)exact_greatest(p->w_format) <=
           most_products;
}

static bool find_units(struct rewrite *rewrite, struct product *p)
{
    const int exponent = exact_unit(p->in.format) + exact_unit(p->w_format);
    struct bulk bulk = { NULL, 0 };
    struct tensor scale;
    bool ok = p->w->op == OP_CAST ||
              interpret_constant(rewrite->ctx, p->w->inputs[1], p->channels, &bulk, &scale);

    p->units = arena_array(&rewrite->ctx->scratch, double, (size_t)p->channels);
    for (int64_t i = 0; ok && i < p->channels; i++) {
        const double w_scale = p->w->op == OP_CAST ? 1 : tensor_at(&scale, i);
        const double unit = ldexp(p->in.scale * w_scale, exponent);

        p->units[i] = (double)(float)unit; /* as the operand says it */
        ok = w_scale > 0 && unit >= 0x1p-126 && unit < 0x1p127;
    }
    bulk_release(&bulk);
    return ok;
}

/* --- steps
 * ------------------------------------------------------------------------------------------ Each
 * takes the integers and gives integers; NULL where a number does not fit. */

/* The real numbers, one for each channel or one, in units: a constant of i64, or NULL. */
static struct value *in_units(struct rewrite *rewrite, const struct product *p, struct value *reals,
                              int64_t channels)
{
    const struct type type = type_make(DTYPE_I64, 1, &channels);
    const struct tensor real = value_tensor(reals);
    const int64_t n = type_elements(&real.type);
    int64_t *data = constant_alloc(rewrite->fn, &type);

    for (int64_t i = 0; i < channels; i++) {
        const double number = tensor_at(&real, n == 1 ? 0 : i);
        const double whole = rint(number / p->units[p->channels == 1 ? 0 : i]);

        if (!(fabs(whole) <= most))
            return NULL;
        data[i] = (int64_t)whole;
    }
    return rule_constant_like(rewrite, reals, &type, data);
}

static struct value *add_bias(struct rewrite *rewrite, const struct product *p,
                              const struct step *step, struct value *sum)
{
    const struct type *shape = &p->node->outputs[0]->type;
    const union attrs attrs = { .axis = { .axis = p->axis } };
    const struct type *number = &step->number->type;
    const int64_t n = type_elements(number);
    struct value *bias;

    if (step->node->op == OP_BIAS_ADD ? step->node->attrs.axis.axis != p->axis
                                      : !is_per_axis(number, shape, p->axis))
        return NULL;
    if (n != 1 && n != shape->dim[p->axis])
        return NULL;
    bias = in_units(rewrite, p, step->number, shape->dim[p->axis]);
    return rule_build2(rewrite, OP_BIAS_ADD, &attrs, sum, bias);
}

/* minimum or maximum with a bound, which is rounded to the units of each channel. */
static struct value *bound(struct rewrite *rewrite, const struct product *p, enum op op,
                           double real, struct value *sum)
{
    struct type type = type_scalar(DTYPE_I64);
    int64_t *data;

    if (isinf(real))
        return sum;
    if (p->channels > 1) {
        type.rank = p->node->outputs[0]->type.rank - p->axis;
        for (int i = 0; i < type.rank; i++)
            type.dim[i] = i == 0 ? p->channels : 1;
    }
    data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; i < p->channels; i++)
        data[i] = (int64_t)fmax(fmin(rint(real / p->units[i]), most), -most);
    return rule_build2(rewrite, op, NULL, sum,
                       constant_new(rewrite->fn,
                                    arena_printf(&rewrite->ctx->scratch, "%s.bound", rewrite->name),
                                    &type, data));
}

static struct value *clip(struct rewrite *rewrite, const struct product *p, const struct step *step,
                          struct value *sum)
{
    sum = bound(rewrite, p, OP_MAXIMUM, step->node->attrs.clip.a_min, sum);
    return sum ? bound(rewrite, p, OP_MINIMUM, step->node->attrs.clip.a_max, sum) : NULL;
}

static struct value *units_operand(struct rewrite *rewrite, const struct product *p)
{
    const struct type type =
        p->channels == 1 ? type_scalar(DTYPE_F32) : type_make(DTYPE_F32, 1, &p->channels);
    float *data = constant_alloc(rewrite->fn, &type);

    for (int64_t i = 0; i < p->channels; i++)
        data[i] = (float)p->units[i];
    return constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.unit", rewrite->name),
                        &type, data);
}

static struct value *requantized(struct rewrite *rewrite, const struct product *p,
                                 struct value *sum, double scale, enum dtype dtype)
{
    const union attrs attrs = { .requantize = { .axis = p->channels == 1 ? 0 : p->axis,
                                                .rounding = "single" } };

    return rule_build(
        rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
        (struct value *[]){ sum, units_operand(rewrite, p), zero_operand(rewrite, p->out.dtype),
                            scale_operand(rewrite, scale), zero_operand(rewrite, dtype) });
}

/* The part of the result's least step in which a residual of FP8 fits into 32 bits, as do its sums:
 * at least 2^-6, at most 2^-20. 0 where there is none. */
static double residual_unit(const struct product *p, const struct small *residual)
{
    const double step = ldexp(p->out.scale, exact_unit(p->out.format));
    const double greatest = residual->scale * (double)minifloat_max(residual->format);
    int parts = 20;

    while (parts >= 6 && greatest / ldexp(step, -parts) > 0x1p30)
        parts--;
    return parts >= 6 && ldexp(step, -parts) >= 0x1p-126 ? ldexp(step, -parts) : 0;
}

static struct value *add_residual(struct rewrite *rewrite, struct product *p,
                                  const struct step *step, struct value *sum)
{
    const double unit = residual_unit(p, &step->residual_small);

    if (unit == 0 || !type_same_shape(&step->residual->outputs[0]->type, &sum->type))
        return NULL;
    sum = requantized(rewrite, p, sum, unit, DTYPE_I64);
    p->channels = 1;
    p->units[0] = unit;
    rule_covers(rewrite, step->residual);
    return rule_build2(
        rewrite, OP_ADD, NULL, sum,
        exact_numbers_of(rewrite, step->residual->inputs[0], &step->residual_small, unit));
}

static struct value *apply_step(struct rewrite *rewrite, struct product *p, const struct step *step,
                                struct value *sum)
{
    rule_covers(rewrite, step->node);
    switch (step->node->op) {
    case OP_RELU: return rule_build1(rewrite, OP_RELU, NULL, sum);
    case OP_CLIP: return clip(rewrite, p, step, sum);
    default:
        return step->residual ? add_residual(rewrite, p, step, sum)
                              : add_bias(rewrite, p, step, sum);
    }
}

/* --- the rule --------------------------------------------------------------------------------- */

/* encode(product(decode(x), decode(w)), with biases, relu, clip and residuals behind it) ->
 * qnn.requantize(qnn.conv ...) */
struct value *exact_product(struct rewrite *rewrite, struct node *root)
{
    const struct node *const prev = root->prev;
    struct product p = { .n_steps = 0 };
    struct value *y;

    if (!encodes(rewrite, root, &p.out) || !find_product_node(rewrite, root, &p) ||
        *product_out_dtype(p.node) != DTYPE_NONE)
        return NULL;
    p.x = decoder_of(rewrite, p.node->inputs[0], &p.in);
    if (!p.x || p.node->inputs[0]->type.rank < 2 || p.node->inputs[1]->type.rank < 2 ||
        !find_weights(&p) || !sums_fit(&p) || !find_units(rewrite, &p))
        return NULL;
    rule_covers(rewrite, p.x);
    rule_covers(rewrite, p.w);
    rule_covers(rewrite, p.node);
    y = rule_build(rewrite, exact_op(p.node->op), &p.node->attrs, 4,
                   (struct value *[]){ p.x->inputs[0], p.w->inputs[0],
                                       zero_operand(rewrite, p.in.dtype),
                                       zero_operand(rewrite, p.w->inputs[0]->type.dtype) });
    for (int i = p.n_steps - 1; i >= 0 && y; i--)
        y = apply_step(rewrite, &p, &p.steps[i], y);
    if (y)
        y = requantized(rewrite, &p, y, p.out.scale, p.out.dtype);
    while (!y && root->prev != prev)
        node_remove(root->prev);
    return y;
}
