/* quantized_product.c - quantize(product(dequantize(x), dequantize(w)) + bias) in integers.
 *
 * The sum of (x - x_zero) * (w - w_zero) counts in units of x_scale * w_scale; the bias is rounded
 * to them, and qnn.requantize brings the sum to the scale of the output. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

/* How far a bias may be off by rounding, in steps of the output. What requantize rounds is at most
 * a quarter off itself, so that both together stay within one step. */
static const double most_bias_error = 0.5;

/* Scales of a bias and of a product that differ by less than this are meant to be equal: the one
 * was rounded to f32 after the other. */
static const double same_scale = 1e-5;

struct product {
    struct node *node; /* the operator on floats */
    struct value *bias;
    const struct node *bias_node; /* bias_add or add; NULL = none */
    struct node *x, *w;           /* the dequantize of its operands */
    struct affine x_affine, out;
    int axis;         /* of the output channels, in the output */
    int64_t channels; /* how many */
    int64_t inner;    /* element i of w belongs to channel i / inner % channels */
    int64_t terms;    /* of each sum */
    double *units;    /* [channels], x_scale * w_scale */
    bool one_unit;    /* for all of them */
};

static enum op integer_op(enum op op)
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

static int channel_axis(const struct node *node)
{
    return op_spatial_rank(node->op) ? 1 : node->outputs[0]->type.rank - 1;
}

static struct node *product_of(const struct value *value)
{
    struct node *node = value->def;

    return node && integer_op(node->op) != OP_COUNT ? node : NULL;
}

/* The product, which nobody reads but its bias, and that only to quantize it. */
static bool find_sum(struct rewrite *rewrite, const struct node *root, struct product *p)
{
    struct node *sum = root->inputs[0]->def;

    if (!sum || !only_quantized(rewrite, root->inputs[0], root))
        return false;
    p->node = product_of(root->inputs[0]);
    if (p->node)
        return true;
    for (int side = 0; side < 2 && (sum->op == OP_BIAS_ADD || sum->op == OP_ADD); side++) {
        struct node *product =
            value_only_user(sum->inputs[side]) ? product_of(sum->inputs[side]) : NULL;
        struct value *bias = sum->inputs[1 - side];

        if (!product || (sum->op == OP_BIAS_ADD && side == 1))
            continue;
        if (sum->op == OP_BIAS_ADD
                ? sum->attrs.axis.axis != channel_axis(product)
                : !type_same_shape(&product->outputs[0]->type, &sum->outputs[0]->type) ||
                      !is_per_axis(&bias->type, &product->outputs[0]->type, channel_axis(product)))
            continue;
        p->node = product;
        p->bias = bias;
        p->bias_node = sum;
        return true;
    }
    return false;
}

/* The axis of the output channels in w; also sets what depends on it. */
static int weight_axis(struct product *p)
{
    const struct type *w = &p->node->inputs[1]->type;
    const bool matmul = p->node->op == OP_MATMUL;
    const bool turned = matmul && p->node->attrs.matmul.transpose_b;
    const int axis = !matmul ? 0 : turned ? w->rank - 2 : w->rank - 1;

    p->axis = channel_axis(p->node);
    p->channels = w->dim[axis];
    p->inner = type_span(w, axis + 1, w->rank);
    p->terms = !matmul ? p->inner : w->dim[turned ? w->rank - 1 : w->rank - 2];
    return axis;
}

/* Whether a scale or zero point of w is one number, or one for each channel. */
static bool fits_channels(const struct product *p, int input, int axis)
{
    const int64_t n = type_elements(&p->w->inputs[input]->type);

    return n == 1 || (n == p->channels && p->w->attrs.axis.axis == axis);
}

static bool read_units(struct rewrite *rewrite, struct product *p)
{
    struct bulk bulk = { NULL, 0 };
    struct tensor scale;
    bool ok = static_tensor(rewrite, p->w->inputs[1], &bulk, &scale);

    p->one_unit = type_elements(&p->w->inputs[1]->type) == 1;
    p->units = arena_array(&rewrite->ctx->scratch, double, (size_t)p->channels);
    for (int64_t i = 0; ok && i < p->channels; i++) {
        const double w_scale = tensor_at(&scale, p->one_unit ? 0 : i);

        p->units[i] = p->x_affine.scale * w_scale;
        ok = w_scale > 0 && p->units[i] >= 0x1p-126 && p->units[i] < 0x1p127;
    }
    bulk_release(&bulk);
    return ok;
}

static bool find_product(struct rewrite *rewrite, const struct node *root, struct product *p)
{
    int axis;

    *p = (struct product){ 0 };
    if (!affine_of(rewrite, root, root->outputs[0], &p->out) || !find_sum(rewrite, root, p) ||
        p->node->inputs[1]->type.rank < 2 || p->node->inputs[0]->type.rank < 2)
        return false;
    axis = weight_axis(p);
    p->x = dequantize_of(rewrite, p->node->inputs[0], &p->x_affine);
    p->w = defined_by(p->node->inputs[1], OP_QNN_DEQUANTIZE);
    if (!p->x || !p->w || p->channels < 1 ||
        (p->w->inputs[0]->type.dtype != DTYPE_I8 && p->w->inputs[0]->type.dtype != DTYPE_U8))
        return false;
    return fits_channels(p, 1, axis) && fits_channels(p, 2, axis) && read_units(rewrite, p);
}

/* --- the bias --------------------------------------------------------------------------------- */

static bool is_unit(const struct product *p, const struct tensor *scale, int64_t channel)
{
    const double found = tensor_at(scale, type_elements(&scale->type) == 1 ? 0 : channel);

    return fabs(found / p->units[channel] - 1) < same_scale;
}

/* The stored i32 of a bias that is given in the units of the product; else NULL. */
static struct value *stored_bias(struct rewrite *rewrite, const struct product *p)
{
    const struct node *node = defined_by(p->bias, OP_QNN_DEQUANTIZE);
    struct bulk bulk = { NULL, 0 };
    struct tensor scale, zero;
    bool ok = node && node->inputs[0]->type.dtype == DTYPE_I32 && p->bias->type.rank == 1 &&
              p->bias->type.dim[0] == p->channels &&
              static_tensor(rewrite, node->inputs[1], &bulk, &scale) &&
              static_tensor(rewrite, node->inputs[2], &bulk, &zero);

    for (int64_t i = 0; ok && i < type_elements(&zero.type); i++)
        ok = tensor_at(&zero, i) == 0;
    for (int64_t i = 0; ok && i < p->channels; i++)
        ok = is_unit(p, &scale, i);
    bulk_release(&bulk);
    return ok ? node->inputs[0] : NULL;
}

/* The bias in units of the product; NULL when that is too coarse, or not known. */
static struct value *rounded_bias(struct rewrite *rewrite, const struct product *p)
{
    const struct type type = type_make(DTYPE_I32, 1, &p->channels);
    struct bulk bulk = { NULL, 0 };
    struct tensor bias;
    int32_t *data = NULL;
    bool ok = static_tensor(rewrite, p->bias, &bulk, &bias);

    if (ok)
        data = constant_alloc(rewrite->fn, &type);
    for (int64_t i = 0; ok && i < p->channels; i++) {
        const double real = tensor_at(&bias, type_elements(&bias.type) == 1 ? 0 : i);
        const double exact = real / p->units[i], whole = rint(exact);

        ok = fabs(whole) < 0x1p31 &&
             fabs(whole - exact) * p->units[i] / p->out.scale <= most_bias_error;
        data[i] = ok ? (int32_t)whole : 0;
    }
    bulk_release(&bulk);
    return ok ? rule_constant_like(rewrite, p->bias, &type, data) : NULL;
}

/* --- overflow --------------------------------------------------------------------------------- */

/* Adds the greatest |sum| that the weights of each channel allow; the coarse one where the weights
 * are not known. */
static void add_reach(struct rewrite *rewrite, const struct product *p, double *reach)
{
    const double x_reach = (double)affine_reach(&p->x_affine);
    struct bulk bulk = { NULL, 0 };
    struct tensor w, zero;

    if (static_tensor(rewrite, p->w->inputs[0], &bulk, &w) &&
        static_tensor(rewrite, p->w->inputs[2], &bulk, &zero)) {
        const int64_t n_zeros = type_elements(&zero.type), n = type_elements(&w.type);

        for (int64_t i = 0; i < n; i++) {
            const int64_t channel = i / p->inner % p->channels;
            const double centre = tensor_at(&zero, n_zeros == 1 ? 0 : channel);

            reach[channel] += fabs(tensor_at(&w, i) - centre) * x_reach;
        }
    } else {
        for (int64_t i = 0; i < p->channels; i++)
            reach[i] += (double)p->terms * x_reach * 255;
    }
    bulk_release(&bulk);
}

/* Whether no sum, bias included, can leave 32 bits. */
static bool fits_32_bits(struct rewrite *rewrite, const struct product *p, const struct value *bias)
{
    double *reach = arena_array(&rewrite->ctx->scratch, double, (size_t)p->channels);
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    bool ok = !bias || static_tensor(rewrite, bias, &bulk, &tensor);

    for (int64_t i = 0; ok && bias && i < p->channels; i++)
        reach[i] = fabs(tensor_at(&tensor, i));
    bulk_release(&bulk);
    if (ok)
        add_reach(rewrite, p, reach);
    for (int64_t i = 0; ok && i < p->channels; i++)
        ok = reach[i] <= INT32_MAX;
    return ok;
}

/* --- the rule --------------------------------------------------------------------------------- */

static struct value *unit_constant(struct rewrite *rewrite, const struct product *p)
{
    const struct type type =
        p->one_unit ? type_scalar(DTYPE_F32) : type_make(DTYPE_F32, 1, &p->channels);
    float *data = constant_alloc(rewrite->fn, &type);

    for (int64_t i = 0; i < type_elements(&type); i++)
        data[i] = (float)p->units[i];
    return constant_new(
        rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.scale", rewrite->name), &type, data);
}

static void cover_all(struct rewrite *rewrite, const struct product *p)
{
    const struct node *bias = p->bias ? defined_by(p->bias, OP_QNN_DEQUANTIZE) : NULL;

    rule_covers(rewrite, p->x);
    rule_covers(rewrite, p->w);
    rule_covers(rewrite, p->node);
    if (bias)
        rule_covers(rewrite, bias);
    if (p->bias_node)
        rule_covers(rewrite, p->bias_node);
}

/* quantize(conv, dense or matmul of dequantize(x) and dequantize(w), with a constant bias or none)
 * -> requantize(qnn.conv ...(x, w) + bias) */
struct value *product_to_integer(struct rewrite *rewrite, struct node *root)
{
    struct value *bias = NULL, *y, *inputs[5];
    struct product p;
    union attrs attrs;

    if (!find_product(rewrite, root, &p))
        return NULL;
    if (p.bias) {
        bias = stored_bias(rewrite, &p);
        if (!bias)
            bias = rounded_bias(rewrite, &p);
        if (!bias)
            return NULL;
    }
    if (!fits_32_bits(rewrite, &p, bias))
        return NULL;
    cover_all(rewrite, &p);
    y = rule_build(rewrite, integer_op(p.node->op), &p.node->attrs, 4,
                   (struct value *[]){ p.x->inputs[0], p.w->inputs[0], p.x_affine.zero_value,
                                       p.w->inputs[2] });
    memset(&attrs, 0, sizeof attrs);
    attrs.axis.axis = p.axis;
    if (bias)
        y = rule_build2(rewrite, OP_BIAS_ADD, &attrs, y, bias);
    memset(&attrs, 0, sizeof attrs);
    attrs.requantize.axis = p.axis;
    attrs.requantize.rounding = rewrite->fn->module->rounds_as_onnx ? "onnx" : "double";
    inputs[0] = y;
    inputs[1] = unit_constant(rewrite, &p);
    inputs[2] = int32_constant(rewrite, 0, "in_zero");
    inputs[3] = p.out.scale_value;
    inputs[4] = p.out.zero_value;
    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5, inputs);
}
