/* products.c - dense and matmul: one sum per result, one product after the other, or 16 of them.
 * Every product is a variable of its own, so that no compiler makes one operation of it and the
 * sum. */
#include "simulate/operators.h"

#include "runtime/embed/sum_of_16_f32.h"

/* y[.., m, n] = a[.., m, k] * b[.., k, n], as steps in elements. */
struct rows {
    int64_t k, a_step, b_step;
    bool fused, sums_of_16;
};

/* One after the other. */
static float plain_sum(const struct rows *p, const float *a, const float *b)
{
    float sum = 0;

    for (int64_t k = 0; k < p->k; k++)
        sum = add_product(sum, a[k * p->a_step], b[k * p->b_step], p->fused);
    return sum;
}

/* As runtime/embed/dots_f32.h. */
static float sum_in_16(const struct rows *p, const float *a, const float *b)
{
    float sum[16] = { 0 };

    for (int64_t k = 0; k < p->k; k++)
        sum[k % 16] = add_product(sum[k % 16], a[k * p->a_step], b[k * p->b_step], p->fused);
    return sum_of_16_f32(sum);
}

static float sum_of(const struct rows *p, const float *a, const float *b)
{
    return p->sums_of_16 ? sum_in_16(p, a, b) : plain_sum(p, a, b);
}

/* --- in blocks -------------------------------------------------------------------------------- */

bool sums_by_blocks(const struct simulation *sim, const struct node *node,
                    const struct tensor *weight, struct bulk *bulk, struct block_sums *sums)
{
    const struct qtype *quant = weight->type.quant;
    struct tensor quantized = *weight;
    struct qtype unscaled;
    float *ones;

    if (!type_has_blocks(&weight->type) || sums_of(sim, node) != SUMS_BLOCKS)
        return false;
    ones = bulk_alloc(bulk, (size_t)quant->n * sizeof *ones);
    for (int64_t i = 0; i < quant->n; i++)
        ones[i] = 1;
    unscaled = *quant;
    unscaled.scale = ones;
    quantized.type.quant = &unscaled;
    *sums = (struct block_sums){ .fused = fuses_products(sim, node),
                                 .quantized = floats_of(bulk, &quantized),
                                 .scale = quant->scale,
                                 .len = type_span(&quantized.type, 1, quantized.type.rank),
                                 .block = quant->block };
    return true;
}

float block_sum(const struct block_sums *sums, int64_t row, const float *x)
{
    const int64_t n_blocks = (sums->len + sums->block - 1) / sums->block;
    float sum = 0;

    for (int64_t i = 0; i < n_blocks; i++) {
        const int64_t from = i * sums->block, left = sums->len - from;
        const struct rows p = { .k = left < sums->block ? left : sums->block,
                                .a_step = 1,
                                .b_step = 1,
                                .fused = sums->fused };
        const float part = plain_sum(&p, x + from, sums->quantized + row * sums->len + from);

        sum = add_product(sum, part, sums->scale[row * n_blocks + i], false);
    }
    return sum;
}

/* ---------------------------------------------------------------------------------------------- */

bool simulate_dense(const struct simulation *sim, const struct node *node,
                    const struct tensor *const *in, struct tensor *out)
{
    const struct type *x = &in[0]->type;
    const int64_t m = type_span(x, 0, x->rank - 1), n = in[1]->type.dim[0];
    const struct rows p = { .k = in[1]->type.dim[1],
                            .a_step = 1,
                            .b_step = 1,
                            .fused = fuses_products(sim, node),
                            .sums_of_16 = sums_of(sim, node) == SUMS_OF_16 };
    struct bulk bulk = { NULL, 0 };
    const float *a = floats_of(&bulk, in[0]), *b = floats_of(&bulk, in[1]);
    float *y = out->data;
    struct block_sums sums;
    const bool in_blocks = sums_by_blocks(sim, node, in[1], &bulk, &sums);

    for (int64_t i = 0; i < m * n; i++)
        y[i] = in_blocks ? block_sum(&sums, i, a) : sum_of(&p, a + i / n * p.k, b + i % n * p.k);
    bulk_release(&bulk);
    return true;
}

/* The matrix of an operand that belongs to the result's matrix number `index`. */
static int64_t matrix_of(const struct type *y, const struct type *x, int64_t index)
{
    int64_t number = 0, step = 1;

    for (int i = 3; i <= y->rank; i++) {
        const int64_t extent = y->dim[y->rank - i], own = i <= x->rank ? x->dim[x->rank - i] : 1;

        number += own > 1 ? index % extent * step : 0;
        step *= own;
        index /= extent;
    }
    return number;
}

/* Matrices only: of vectors there is no kernel. */
bool simulate_matmul(const struct simulation *sim, const struct node *node,
                     const struct tensor *const *in, struct tensor *out)
{
    const struct matmul_attrs *attrs = &node->attrs.matmul;
    const struct type *a = &in[0]->type, *b = &in[1]->type, *y = &out->type;
    struct bulk bulk = { NULL, 0 };
    const float *left, *right;
    struct block_sums sums;
    bool in_blocks;
    struct rows p;
    int64_t m, n;

    if (a->rank < 2 || b->rank < 2)
        return false;
    m = y->dim[y->rank - 2];
    n = y->dim[y->rank - 1];
    p.k = a->dim[a->rank - (attrs->transpose_a ? 2 : 1)];
    p.fused = fuses_products(sim, node);
    p.sums_of_16 = sums_of(sim, node) == SUMS_OF_16;
    p.a_step = attrs->transpose_a ? m : 1;
    p.b_step = attrs->transpose_b ? 1 : n;
    left = floats_of(&bulk, in[0]);
    right = floats_of(&bulk, in[1]);
    in_blocks = sums_by_blocks(sim, node, in[1], &bulk, &sums);
    for (int64_t i = 0; i < type_elements(y); i++) {
        const int64_t matrix = i / n / m, row = i / n % m, column = i % n;
        const float *from = left + matrix_of(y, a, matrix) * m * p.k;
        const float *to = right + matrix_of(y, b, matrix) * n * p.k;

        ((float *)out->data)[i] = in_blocks
                                      ? block_sum(&sums, i, left)
                                      : sum_of(&p, from + row * (attrs->transpose_a ? 1 : p.k),
                                               to + column * (attrs->transpose_b ? p.k : 1));
    }
    bulk_release(&bulk);
    return true;
}
