/* lp_pool.c - lp_pool between decoders and an encoder becomes averages, of which others make
 * integers: windows of n numbers have the sum n * average, and a table gives what is summed.
 *
 * p = 1     the magnitudes: of 8 bits they are whole numbers of the scale, of FP8 they are quantised values
 * p = 2     the squares, of 8 bits only: they fit 16, and so do their averages, of which a function
 *           of 16 bits takes the root. What 16 bits leave off is 2^-17 of the greatest sum: of the
 *           root 0.71 steps of 8 bits where that is below one step, and 0.25 from there on */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/layout.h"
#include "relay_ir/passes/lower/exact.h"
#include "relay_ir/passes/lower/quantized.h"

enum { CODES = 256 };

static enum op average_op(enum op op)
{
    switch (op) {
    case OP_LP_POOL1D: return OP_AVG_POOL1D;
    case OP_LP_POOL2D: return OP_AVG_POOL2D;
    case OP_LP_POOL3D: return OP_AVG_POOL3D;
    default: return OP_COUNT;
    }
}

/* The numbers of a window. */
static int64_t terms_of(const struct node *node)
{
    int64_t n = 1;

    for (int i = 0; i < node->attrs.pool.pool_size.n; i++)
        n *= node->attrs.pool.pool_size.at[i];
    return n;
}

/* Whether windows reach beyond the padding: then they have fewer elements to divide by. */
static bool hangs_over(const struct node *node)
{
    const struct pool_attrs *attrs = &node->attrs.pool;
    const int first = layout_spatial_axis(attrs->layout), rank = attrs->pool_size.n;

    for (int i = 0; i < rank; i++) {
        const int64_t covers = (attrs->pool_size.at[i] - 1) * attrs->dilation.at[i] + 1;
        const int64_t padded = node->inputs[0]->type.dim[first + i] + attrs->padding.at[i] +
                               attrs->padding.at[rank + i];

        if ((node->outputs[0]->type.dim[first + i] - 1) * attrs->strides.at[i] + covers > padded)
            return true;
    }
    return false;
}

/* The lp_pool that the root encodes. */
static const struct node *pool_of(struct rewrite *rewrite, const struct node *root)
{
    const struct value *value = root->inputs[0];

    return value->def && average_op(value->def->op) != OP_COUNT && !hangs_over(value->def) &&
                   (value_only_user(value) || only_quantized(rewrite, value, root))
               ? value->def
               : NULL;
}

/* The windows' averages of quantised values through a table, each times n. */
static struct value *sums_of(struct rewrite *rewrite, const struct node *node,
                             struct value *quantized, const struct tensor *table, double scale)
{
    const union attrs axis = { .axis = { 0 } };
    const double n = (double)terms_of(node);
    union attrs attrs = node->attrs;
    struct value *entries =
        constant_new(rewrite->fn, arena_printf(&rewrite->ctx->scratch, "%s.terms", rewrite->name),
                     &table->type, table->data);
    struct value *terms =
        rule_build(rewrite, OP_QNN_LUT, &axis, 4,
                   (struct value *[]){ quantized, entries, scale_operand(rewrite, scale * n),
                                       zero_operand(rewrite, table->type.dtype) });

    attrs.pool.p = 0;
    attrs.pool.count_include_pad = true;
    return rule_build1(rewrite, average_op(node->op), &attrs,
                       rule_build3(rewrite, OP_QNN_DEQUANTIZE, &axis, terms,
                                   scale_operand(rewrite, scale * n),
                                   zero_operand(rewrite, table->type.dtype)));
}

static struct tensor table_new(struct rewrite *rewrite, enum dtype dtype)
{
    const int64_t n = CODES;
    const struct type type = type_make(dtype, 1, &n);

    return (struct tensor){ type, constant_alloc(rewrite->fn, &type) };
}

/* The root of sums of squares, which have 16 bits: up to the greatest that the result can say. */
static struct value *root_of(struct rewrite *rewrite, struct value *sums, double greatest)
{
    const union attrs axis = { .axis = { 0 } }, quantize = { .quantize = { .saturate = true } };
    const double scale = greatest / 65535;
    struct value *stored =
        rule_build3(rewrite, OP_QNN_QUANTIZE, &quantize, sums, scale_operand(rewrite, scale),
                    zero_operand(rewrite, DTYPE_U16));

    return rule_build1(rewrite, OP_SQRT, NULL,
                       rule_build3(rewrite, OP_QNN_DEQUANTIZE, &axis, stored,
                                   scale_operand(rewrite, scale),
                                   zero_operand(rewrite, DTYPE_U16)));
}

/* The root again, of other numbers. */
static struct value *encoded(struct rewrite *rewrite, const struct node *root, struct value *value)
{
    struct value *inputs[3] = { value };

    for (int i = 1; i < root->n_inputs; i++)
        inputs[i] = root->inputs[i];
    return rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs);
}

/* quantize(lp_pool(dequantize(x))) -> quantize(avg_pool(dequantize(table(x)))), or of its root */
struct value *lp_pool_to_average(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = pool_of(rewrite, root), *x;
    struct affine in, out;
    struct tensor table;
    double greatest, unit;
    struct value *sums;
    int64_t p;

    if (!node || !affine_of(rewrite, root, root->outputs[0], &out))
        return NULL;
    p = node->attrs.pool.p;
    x = dequantize_of(rewrite, node->inputs[0], &in);
    if (!x || dtype_bytes(in.dtype) != 1 || (p != 1 && p != 2) ||
        (p == 2 && dtype_bytes(out.dtype) != 1) || terms_of(node) > INT32_MAX >> 16)
        return NULL;
    unit = p == 1 ? in.scale : in.scale * in.scale;
    greatest = out.scale * (greatest_stored(out.dtype) - (double)out.zero);
    greatest = fmin(greatest * greatest, unit * 65025 * (double)terms_of(node));
    if (unit * (double)terms_of(node) < 0x1p-100 || (p == 2 && greatest < 0x1p-80))
        return NULL;
    table = table_new(rewrite, p == 1 ? DTYPE_U8 : DTYPE_U16);
    for (int i = 0; i < CODES; i++) {
        const int64_t steps = llabs((int64_t)least_stored(in.dtype) + i - in.zero);

        dtype_store_int(table.type.dtype, table.data, i, p == 1 ? steps : steps * steps);
    }
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    sums = sums_of(rewrite, node, x->inputs[0], &table, unit);
    return encoded(rewrite, root, p == 1 || !sums ? sums : root_of(rewrite, sums, greatest));
}

/* encode(lp_pool(decode(x))) of FP8, p = 1 -> encode(avg_pool(decode(table(x)))) */
struct value *exact_lp_pool(struct rewrite *rewrite, struct node *root)
{
    const struct node *node = pool_of(rewrite, root), *x;
    struct small in, out;
    struct tensor table;

    if (!node || node->attrs.pool.p != 1 || !encodes(rewrite, root, &out))
        return NULL;
    x = decoder_of(rewrite, node->inputs[0], &in);
    if (!x || in.scale * (double)terms_of(node) < 0x1p-100)
        return NULL;
    table = table_new(rewrite, in.dtype);
    for (int i = 0; i < CODES; i++)
        ((uint8_t *)table.data)[i] = isnan(minifloat_decode(in.format, (unsigned)i))
                                         ? 0
                                         : (uint8_t)((unsigned)i & (minifloat_sign(in.format) - 1));
    rule_covers(rewrite, x);
    rule_covers(rewrite, node);
    return encoded(rewrite, root, sums_of(rewrite, node, x->inputs[0], &table, in.scale));
}
