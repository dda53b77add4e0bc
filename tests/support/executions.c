#include "tests/support/executions.h"

#include <math.h>
#include <string.h>

static double next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

void fill_random(const struct tensor *tensor, double low, double high, unsigned *seed)
{
    const int64_t n = type_elements(&tensor->type);

    for (int64_t i = 0; i < n; i++) {
        double number = low + (high - low) * next_random(seed);

        if (tensor->type.dtype == DTYPE_BOOL)
            number = number > 0;
        else if (!dtype_is_float(tensor->type.dtype) && !dtype_minifloat(tensor->type.dtype))
            number = floor(number);
        dtype_store(tensor->type.dtype, tensor->data, i, number);
    }
}

struct value *random_constant(struct function *fn, const char *name, int rank, const int64_t *dim,
                              double low, double high, unsigned *seed)
{
    const struct type type = type_make(DTYPE_F32, rank, dim);
    void *data = constant_alloc(fn, &type);

    fill_random(&(struct tensor){ type, data }, low, high, seed);
    return constant_new(fn, name, &type, data);
}

struct tensor *random_inputs(struct arena *arena, struct bulk *bulk, const struct function *fn,
                             double low, double high, unsigned *seed)
{
    struct tensor *inputs = arena_array(arena, struct tensor, fn->n_params);

    for (int i = 0; i < fn->n_params; i++) {
        inputs[i] = tensor_new(bulk, &fn->params[i]->type);
        fill_random(&inputs[i], low, high, seed);
    }
    return inputs;
}

double difference(const struct tensor *got, const struct tensor *wanted)
{
    const int64_t n = type_elements(&wanted->type);
    double greatest = 0, worst = 0;

    if (got->type.dtype != wanted->type.dtype || !type_same_shape(&got->type, &wanted->type))
        return INFINITY;
    if (!dtype_is_float(wanted->type.dtype))
        return memcmp(got->data, wanted->data, type_bytes(&wanted->type)) == 0 ? 0 : INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double a = tensor_at(got, i), b = tensor_at(wanted, i);

        if (a == b || (isnan(a) && isnan(b)))
            continue;
        if (!isfinite(a) || !isfinite(b))
            return INFINITY;
        worst = fmax(worst, fabs(a - b));
    }
    for (int64_t i = 0; i < n; i++)
        if (isfinite(tensor_at(wanted, i)))
            greatest = fmax(greatest, fabs(tensor_at(wanted, i)));
    return worst == 0 ? 0 : worst / greatest;
}

static double worst_output(const struct function *fn, const struct tensor *got,
                           const struct tensor *wanted)
{
    double worst = 0;

    for (int i = 0; i < fn->ret->n_inputs; i++)
        worst = fmax(worst, difference(&got[i], &wanted[i]));
    return worst;
}

static bool is_nan_at(const struct tensor *tensor, int64_t i)
{
    return dtype_is_float(tensor->type.dtype) && isnan(tensor_at(tensor, i));
}

int64_t other_bits(const struct tensor *got, const struct tensor *wanted)
{
    const size_t bytes = dtype_bytes(wanted->type.dtype);

    for (int64_t i = 0; i < type_elements(&wanted->type); i++) {
        const size_t at = (size_t)i * bytes;

        if (memcmp((const char *)got->data + at, (const char *)wanted->data + at, bytes) != 0 &&
            !(is_nan_at(got, i) && is_nan_at(wanted, i)))
            return i;
    }
    return -1;
}

double engine_difference(struct ctx *ctx, struct function *fn, struct engine *engine,
                         const struct tensor *inputs, int n_runs)
{
    const int n = fn->ret->n_inputs;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct tensor *wanted = arena_array(&arena, struct tensor, n);
    struct tensor *first = arena_array(&arena, struct tensor, n);
    struct tensor *again = arena_array(&arena, struct tensor, n);
    double worst = INFINITY;

    if (interpret(ctx, fn, inputs, wanted, &bulk, NULL) &&
        engine_run(engine, inputs, first, &bulk, NULL))
        worst = worst_output(fn, first, wanted);
    for (int run = 1; run < n_runs; run++)
        if (!engine_run(engine, inputs, again, &bulk, NULL) || worst_output(fn, again, first) > 0)
            worst = INFINITY;
    bulk_release(&bulk);
    arena_release(&arena);
    return worst;
}

struct step_count {
    int n_nodes, n_reorders;
};

static void count_step(void *user, const struct node *node, const char *impl, const char *why)
{
    struct step_count *count = user;

    (void)impl;
    (void)why;
    if (node)
        count->n_nodes++;
    else
        count->n_reorders++;
}

void engine_steps(const struct engine *engine, int *n_nodes, int *n_reorders)
{
    struct step_count count = { 0 };

    engine_explain(engine, count_step, &count);
    *n_nodes = count.n_nodes;
    *n_reorders = count.n_reorders;
}
