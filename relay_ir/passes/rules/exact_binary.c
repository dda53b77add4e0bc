/* exact_binary.c - sums, products, quotients and averages of FP8 numbers that are encoded again.
 * Bounds (relu, clip) between them and the encoder become a table of codes: encoding is monotonous,
 * so that it does not matter which comes first. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/rules/exact.h"

/* The multiplier of the operand with the smaller scale must keep 16 bits. */
static bool add_is_fine(const struct small *a, const struct small *b)
{
    const double ratio = a->scale / b->scale;

    return ratio <= 0x1p15 && ratio >= 0x1p-15;
}

static bool scales_are_fine(enum op op, const struct small *a, const struct small *b,
                            const struct small *out)
{
    double factor = a->scale * b->scale / out->scale;

    if (op == OP_ADD)
        factor = fmax(a->scale, b->scale) / out->scale;
    else if (op == OP_DIVIDE)
        factor = a->scale / b->scale / out->scale;
    return factor >= 0x1p-60 && factor <= 0x1p30 && (op != OP_ADD || add_is_fine(a, b));
}

static enum op exact_op(enum op op)
{
    switch (op) {
    case OP_ADD: return OP_QNN_ADD;
    case OP_DIVIDE: return OP_QNN_DIV;
    case OP_MULTIPLY: return OP_QNN_MUL;
    default: return OP_COUNT;
    }
}

/* encode(add, multiply or divide of decode(a) and decode(b)) -> qnn.add, qnn.mul, qnn.div; all of
 * one format */
struct value *exact_binary(struct rewrite *rewrite, struct node *root)
{
    const struct node *node, *a_node, *b_node;
    struct small a, b;
    struct exact_behind behind;
    struct value *y;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (exact_op(node->op) == OP_COUNT)
        return NULL;
    a_node = decoder_of(rewrite, node->inputs[0], &a);
    b_node = decoder_of(rewrite, node->inputs[1], &b);
    if (!a_node || !b_node || a.dtype != b.dtype || a.dtype != behind.out.dtype ||
        !scales_are_fine(node->op, &a, &b, &behind.out))
        return NULL;
    rule_covers(rewrite, a_node);
    rule_covers(rewrite, b_node);
    rule_covers(rewrite, node);
    y = rule_build(rewrite, exact_op(node->op), NULL, 8,
                   (struct value *[]){
                       a_node->inputs[0], b_node->inputs[0], scale_operand(rewrite, a.scale),
                       zero_operand(rewrite, a.dtype), scale_operand(rewrite, b.scale),
                       zero_operand(rewrite, a.dtype), scale_operand(rewrite, behind.out.scale),
                       zero_operand(rewrite, a.dtype) });
    return exact_bounded(rewrite, &behind, root, y);
}

/* --- averages
 * ------------------------------------------------------------------------------------- An average
 * is a product with ones whose sum is divided in the factor of qnn.requantize. Planes are seen as
 * images of one channel each, so that the ones are those of one window. */

static struct value *ones(struct rewrite *rewrite, const struct small *small, int rank,
                          const int64_t *dim)
{
    const struct type type = type_make(small->dtype, rank, dim);
    uint8_t *data = constant_alloc(rewrite->fn, &type);

    memset(data, (int)minifloat_encode(small->format, 1, true), type_bytes(&type));
    return constant_new(rewrite->fn, "ones", &type, data);
}

static struct value *reshaped(struct rewrite *rewrite, struct value *x, int rank,
                              const int64_t *dim)
{
    const struct type type = type_make(x->type.dtype, rank, dim);

    return rule_reshape(rewrite, x, &type);
}

/* The sum of n numbers, as codes of their average. */
static struct value *divided(struct rewrite *rewrite, struct value *sum, int64_t n,
                             const struct small *in, const struct small *out)
{
    const union attrs attrs = { .requantize = { .rounding = "single" } };
    const double unit = ldexp(in->scale / (double)n, 2 * exact_unit(in->format));

    if (!(unit >= 0x1p-120 && unit <= 0x1p120))
        return NULL;
    return rule_build(rewrite, OP_QNN_REQUANTIZE, &attrs, 5,
                      (struct value *[]){
                          sum, scale_operand(rewrite, unit), zero_operand(rewrite, out->dtype),
                          scale_operand(rewrite, out->scale), zero_operand(rewrite, out->dtype) });
}

/* x [outer, n] -> averages in the shape of the result */
static struct value *average_rows(struct rewrite *rewrite, struct value *x, int64_t n,
                                  const struct small *in, const struct small *out,
                                  const struct type *result)
{
    const int64_t rows = type_elements(result);
    struct value *zero = zero_operand(rewrite, in->dtype);
    struct value *sum =
        rule_build(rewrite, OP_QNN_DENSE, NULL, 4,
                   (struct value *[]){ reshaped(rewrite, x, 2, (int64_t[]){ rows, n }),
                                       ones(rewrite, in, 2, (int64_t[]){ 1, n }), zero, zero });
    struct value *y = sum ? divided(rewrite, sum, n, in, out) : NULL;

    return y ? reshaped(rewrite, y, result->rank, result->dim) : NULL;
}

/* Windows whose taps all count: no padding, or padding that counts, and none that hangs over. */
static bool all_taps_count(const struct node *node)
{
    const struct pool_attrs *attrs = &node->attrs.pool;
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const int rank = x->rank - 2;

    for (int i = 0; i < rank; i++) {
        const int64_t before = attrs->padding.at[i], after = attrs->padding.at[rank + i];
        const int64_t last = (y->dim[2 + i] - 1) * attrs->strides.at[i] +
                             (attrs->pool_size.at[i] - 1) * attrs->dilation.at[i];

        if (last >= before + x->dim[2 + i] + after ||
            (!attrs->count_include_pad && (before > 0 || after > 0)))
            return false;
    }
    return strncmp(attrs->layout, "NC", 2) == 0;
}

/* y's extents must be those of a convolution: with ceil_mode there may be fewer windows. */
static struct value *average_windows(struct rewrite *rewrite, const struct node *node,
                                     struct value *x, const struct small *in,
                                     const struct small *out)
{
    static const enum op convs[] = { OP_QNN_CONV1D, OP_QNN_CONV2D, OP_QNN_CONV3D };
    const struct pool_attrs *pool = &node->attrs.pool;
    const struct type *result = &node->outputs[0]->type;
    const int rank = x->type.rank - 2;
    const union attrs attrs = { .conv = { .strides = pool->strides,
                                          .padding = pool->padding,
                                          .dilation = pool->dilation,
                                          .groups = 1,
                                          .data_layout = "",
                                          .kernel_layout = "" } };
    struct value *zero = zero_operand(rewrite, in->dtype), *y;
    int64_t planes[MAX_RANK] = { x->type.dim[0] * x->type.dim[1], 1 }, k[MAX_RANK] = { 1, 1 };
    int64_t n = 1;

    for (int i = 0; i < rank; i++) {
        planes[2 + i] = x->type.dim[2 + i];
        k[2 + i] = pool->pool_size.at[i];
        n *= k[2 + i];
    }
    y = rule_build(rewrite, convs[rank - 1], &attrs, 4,
                   (struct value *[]){ reshaped(rewrite, x, rank + 2, planes),
                                       ones(rewrite, in, rank + 2, k), zero, zero });
    if (!y || type_elements(&y->type) != type_elements(result))
        return NULL;
    y = divided(rewrite, y, n, in, out);
    return y ? reshaped(rewrite, y, result->rank, result->dim) : NULL;
}

/* Whether the mean's axes are the last ones. */
static bool reduces_tail(const struct node *node)
{
    const struct ints *axes = &node->attrs.reduce.axis;
    const int rank = node->inputs[0]->type.rank;

    for (int i = 0; i < axes->n; i++)
        if (axes->at[i] != rank - axes->n + i)
            return false;
    return axes->n > 0;
}

static bool is_average(const struct node *node)
{
    switch (node->op) {
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D: return all_taps_count(node);
    case OP_GLOBAL_AVG_POOL: return true;
    case OP_MEAN: return reduces_tail(node);
    default: return false;
    }
}

/* encode(avg_pool, global_avg_pool or mean of decode(x)) -> qnn.requantize(qnn.conv(x, ones)) */
struct value *exact_average(struct rewrite *rewrite, struct node *root)
{
    const struct node *node, *decoder;
    struct exact_behind behind;
    struct small in;
    struct value *x, *y;
    int64_t n;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (!is_average(node))
        return NULL;
    decoder = decoder_of(rewrite, node->inputs[0], &in);
    if (!decoder || type_elements(&node->outputs[0]->type) == 0 ||
        type_elements(&node->inputs[0]->type) == 0)
        return NULL;
    rule_covers(rewrite, decoder);
    rule_covers(rewrite, node);
    x = decoder->inputs[0];
    n = type_elements(&x->type) / type_elements(&node->outputs[0]->type);
    y = op_spatial_rank(node->op)
            ? average_windows(rewrite, node, x, &in, &behind.out)
            : average_rows(rewrite, x, n, &in, &behind.out, &node->outputs[0]->type);
    return exact_bounded(rewrite, &behind, root, y);
}
