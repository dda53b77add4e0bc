/* sums.c - sums that keep their places, in integers: cumsum, and scatter that adds. What is added
 * is brought to one unit, as numbers of 32 bits (of FP8: 64); their sums are exact, and rounded
 * once by the qnn.requantize behind them.
 *
 * int8  cumsum: the distances from the zero point. scatter: both operands in 2^-k steps of the
 *       result, k from 4 to 16 as the number of updates and 30 bits allow: so each is off by 2^-k
 * of half a step, all of them together by an eighth of one FP8   steps; of a scatter of two scales
 * in 2^-12 of the greater of both steps */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

static bool is_adding_scatter(const struct node *node)
{
    return (node->op == OP_SCATTER_ELEMENTS || node->op == OP_SCATTER_ND) &&
           strcmp(node->attrs.scatter.reduction, "add") == 0;
}

/* How many updates one element may get. */
static int64_t most_updates(const struct node *node)
{
    const struct type *indices = &node->inputs[1]->type;

    return node->op == OP_SCATTER_ELEMENTS
               ? indices->dim[type_axis(indices, node->attrs.scatter.axis)]
               : type_span(indices, 0, indices->rank - 1);
}

/* The constant in whole units. */
static struct value *in_units(struct rewrite *rewrite, struct value *constant, enum dtype dtype,
                              double unit)
{
    const struct type type = type_make(dtype, constant->type.rank, constant->type.dim);
    const struct tensor reals = value_tensor(constant);
    void *data = constant_alloc(rewrite->fn, &type);

    for (int64_t i = 0; i < type_elements(&type); i++)
        dtype_store_int(dtype, data, i, (int64_t)rint(tensor_at(&reals, i) / unit));
    return rule_constant_like(rewrite, constant, &type, data);
}

/* The greatest magnitude in a constant; infinite unless it is one of finite floats. */
static double greatest_in(const struct value *constant)
{
    const struct tensor reals = value_tensor(constant);
    double greatest = 0;

    if (constant->type.dtype != DTYPE_F32)
        return (double)INFINITY;
    for (int64_t i = 0; i < type_elements(&constant->type); i++) {
        const double number = fabs(tensor_at(&reals, i));

        if (!isfinite(number))
            return (double)INFINITY;
        greatest = fmax(greatest, number);
    }
    return greatest;
}

/* --- int8 ------------------------------------------------------------------------------------- */

static struct value *rounded_once(struct rewrite *rewrite, struct value *sums, double unit,
                                  const struct affine *out)
{
    const union attrs attrs = { .requantize = { .rounding = "single" } };

    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
                      (struct value *[]){ sums, scale_operand(rewrite, unit),
                                          int32_constant(rewrite, 0, "in_zero"), out->scale_value,
                                          out->zero_value });
}

static struct value *cumsum_of_quantized(struct rewrite *rewrite, const struct node *node,
                                         const struct affine *out)
{
    const union attrs cast = { .cast = { .dtype = DTYPE_I32, .saturate = true } };
    struct affine in;
    const struct node *x = dequantize_of(rewrite, node->inputs[0], &in);
    struct value *y;

    if (!x ||
        node->inputs[0]->type.dim[type_axis(&node->inputs[0]->type, node->attrs.cumsum.axis)] >
            INT32_MAX >> (8 * dtype_bytes(in.dtype)))
        return NULL;
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    y = rule_build1(rewrite, OP_CAST, &cast, x->inputs[0]);
    if (in.zero != 0)
        y = rule_build2(rewrite, OP_SUBTRACT, NULL, y,
                        int32_constant(rewrite, (int32_t)in.zero, "zero"));
    return rounded_once(rewrite, rule_build1(rewrite, OP_CUMSUM, &node->attrs, y), in.scale, out);
}

/* An operand of a scatter, and the greatest magnitude that it may have. */
struct addend {
    struct value *value;
    const struct node *x; /* the qnn.dequantize; NULL: a constant */
    struct affine affine;
    double reach;
};

static bool find_addend(struct rewrite *rewrite, struct value *value, struct addend *addend)
{
    addend->value = value;
    addend->x = dequantize_of(rewrite, value, &addend->affine);
    if (!addend->x && value->kind != VALUE_CONSTANT)
        return false;
    addend->reach = addend->x ? (double)affine_reach(&addend->affine) * addend->affine.scale
                              : greatest_in(value);
    return isfinite(addend->reach);
}

static struct value *addend_in(struct rewrite *rewrite, const struct addend *addend, double unit)
{
    struct affine to = { .dtype = DTYPE_I32, .scale = unit };

    if (!addend->x)
        return in_units(rewrite, addend->value, DTYPE_I32, unit);
    rule_covers(rewrite, addend->x);
    make_affine_values(rewrite, &to);
    return requantized_to(rewrite, addend->x->inputs[0], &addend->affine, &to);
}

static struct value *scatter_of_quantized(struct rewrite *rewrite, const struct node *node,
                                          const struct affine *out)
{
    const double n = (double)most_updates(node);
    struct addend x, updates;
    double unit, reach;
    int k = 16;

    if (!find_addend(rewrite, node->inputs[0], &x) ||
        !find_addend(rewrite, node->inputs[2], &updates))
        return NULL;
    reach = x.reach + n * updates.reach;
    while (k > 0 && reach / ldexp(out->scale, -k) > 0x1p30)
        k--;
    unit = (double)(float)ldexp(out->scale, -k);
    if (ldexp(1, k) < 4 * (n + 1) || unit < 0x1p-120)
        return NULL;
    rule_covers(rewrite, node);
    return rounded_once(rewrite,
                        rule_build3(rewrite, node->op, &node->attrs, addend_in(rewrite, &x, unit),
                                    node->inputs[1], addend_in(rewrite, &updates, unit)),
                        unit, out);
}

/* quantize(cumsum(dequantize(x))), quantize(scatter that adds to dequantize(x)) -> requantize(that
 * of i32) */
struct value *sums_to_integer(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = root->inputs[0]->def;
    struct affine out;

    if (!node || (node->op != OP_CUMSUM && !is_adding_scatter(node)) ||
        !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    return node->op == OP_CUMSUM ? cumsum_of_quantized(rewrite, node, &out)
                                 : scatter_of_quantized(rewrite, node, &out);
}

/* --- FP8 -------------------------------------------------------------------------------------- */

static double least_step(const struct small *small)
{
    return ldexp(small->scale, exact_unit(small->format));
}

static double greatest_number(const struct small *small)
{
    return (double)exact_greatest(small->format) * least_step(small);
}

/* Whether the numbers, in units, have 31 bits; those of a constant may have 40. */
static bool fits(struct rewrite *rewrite, const struct value *value, double unit)
{
    struct small small;

    if (decoder_of(rewrite, value, &small))
        return greatest_number(&small) / unit <= 0x1p30;
    return value->kind == VALUE_CONSTANT && greatest_in(value) / unit <= 0x1p40;
}

/* The numbers in units, as i64. */
static struct value *numbers_in(struct rewrite *rewrite, struct value *value, double unit)
{
    struct small small;
    const struct node *decoder = decoder_of(rewrite, value, &small);

    if (!decoder)
        return in_units(rewrite, value, DTYPE_I64, unit);
    rule_covers(rewrite, decoder);
    return exact_numbers_of(rewrite, decoder->inputs[0], &small, unit);
}

/* The unit for both operands of a scatter: 2^-12 of the greater step, up to 2^-8 of it where the
 * numbers need more bits otherwise; 0 = there is none. */
static double common_unit(struct rewrite *rewrite, const struct node *node)
{
    enum { FINEST = 12, COARSEST = 8 };
    struct small x, updates;
    const bool x_quantized = decoder_of(rewrite, node->inputs[0], &x) != NULL;
    const bool update_quantized = decoder_of(rewrite, node->inputs[2], &updates) != NULL;
    const double a = x_quantized ? least_step(&x) : 0,
                 b = update_quantized ? least_step(&updates) : 0;
    const double most = fmax(x_quantized ? greatest_number(&x) : 0,
                             update_quantized ? greatest_number(&updates) : 0);
    int parts = FINEST;

    if (x_quantized && update_quantized && a == b)
        return a;
    while (parts > COARSEST && most / (double)(float)ldexp(fmax(a, b), -parts) > 0x1p30)
        parts--;
    return (double)(float)ldexp(fmax(a, b), -parts);
}

/* encode(cumsum(decode(x))), encode(scatter that adds to decode(x)) -> requantize(that of i64) */
struct value *exact_sums(struct rewrite *rewrite, struct node *root)
{
    const union attrs attrs = { .requantize = { .rounding = "single" } };
    struct value *inputs[3] = { NULL };
    struct exact_behind behind;
    const struct node *node;
    struct small in;
    double unit;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (node->op != OP_CUMSUM && !is_adding_scatter(node))
        return NULL;
    if (node->op == OP_CUMSUM)
        unit = decoder_of(rewrite, node->inputs[0], &in) ? least_step(&in) : 0;
    else
        unit = common_unit(rewrite, node);
    if (unit < 0x1p-120)
        return NULL;
    for (int i = 0; i < node->n_inputs; i += 2)
        if (!fits(rewrite, node->inputs[i], unit))
            return NULL;
    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = i == 1 ? node->inputs[i] : numbers_in(rewrite, node->inputs[i], unit);
    rule_covers(rewrite, node);
    return exact_bounded(
        rewrite, &behind, root,
        rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
                   (struct value *[]){
                       rule_build(rewrite, node->op, &node->attrs, node->n_inputs, inputs),
                       scale_operand(rewrite, unit), zero_operand(rewrite, behind.out.dtype),
                       scale_operand(rewrite, behind.out.scale),
                       zero_operand(rewrite, behind.out.dtype) }));
}
