/* flush_tiny_weights.c - zeros for weights that are too small to be seen in any sum.
 *
 * needs    types; scales are folded into weights
 * gives    no weight of a product, and no bias behind one, that is not zero and below 2^-64, and
 *          below 2^-64 of the largest of its constant
 *
 * Weight decay without end leaves such weights, subnormal ones among them, in channels that
 * training gave up. A sum of f32 does not see them beside others: they are 2^-40 of a rounding of
 * the largest. Where nothing stands beside them, sums are subnormal, and many processors take ten
 * times as long, or more, for a multiply-accumulate with a subnormal number (docs/lab/kernels.md
 * has what was measured). */
#include <math.h>

#include "relay_ir/passes/pipeline.h"
#include "relay_ir/products.h"

static const double SEEN = 0x1p-64;

static bool is_product_of(const struct value *value)
{
    return value->kind == VALUE_OUTPUT && is_product(value->def->op);
}

/* Whether the reader takes the value as weights of products, or adds it to one. */
static bool is_weight_of(const struct use *use)
{
    const struct node *node = use->node;

    if (is_product(node->op))
        return true;
    if (is_recurrent(node->op))
        return use->input >= 1 && use->input <= 3; /* weights, those of the state, biases */
    return (node->op == OP_ADD || node->op == OP_BIAS_ADD) &&
           is_product_of(node->inputs[1 - use->input]);
}

static bool is_weight(const struct value *constant)
{
    for (const struct use *use = constant->uses; use; use = use->next)
        if (!is_weight_of(use))
            return false;
    return constant->uses && constant->type.dtype == DTYPE_F32;
}

/* Of how many the sum is not to be seen; *limit: below that they are. */
static int64_t count_tiny(const struct value *weights, double *limit)
{
    const int64_t n = type_elements(&weights->type);
    const float *numbers = weights->data;
    double largest = 0;
    int64_t n_tiny = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(numbers[i]))
            largest = fmax(largest, fabs((double)numbers[i]));
    *limit = SEEN * fmin(largest, 1);
    for (int64_t i = 0; i < n; i++)
        n_tiny += numbers[i] != 0 && fabs((double)numbers[i]) < *limit;
    return n_tiny;
}

static void flush(struct value *weights, double limit)
{
    const int64_t n = type_elements(&weights->type);
    const float *numbers = weights->data;
    float *data = constant_alloc(weights->fn, &weights->type);
    struct value *flushed;

    for (int64_t i = 0; i < n; i++)
        data[i] = fabs((double)numbers[i]) < limit ? 0 : numbers[i];
    flushed = constant_new(weights->fn, weights->name, &weights->type, data);
    value_supplant(weights, flushed);
}

bool pass_flush_tiny_weights(struct module *module)
{
    struct value *next;
    double limit;

    for (struct value *constant = module->main->constants; constant; constant = next) {
        next = constant->next;
        if (is_weight(constant) && count_tiny(constant, &limit) > 0)
            flush(constant, limit);
    }
    return true;
}
