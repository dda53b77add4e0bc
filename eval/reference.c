#include "eval/reference.h"

#include <math.h>

#define MOST_BYTES ((int64_t)1 << 30)

struct reference {
    struct arena arena;
    struct bulk bulk;
    int64_t n_results; /* elements of all results of a sample */
    int *classes;      /* [n] */
    float *results;    /* [n][n_results] */
};

struct reference *reference_new(struct ctx *ctx, const struct function *fn, int64_t n)
{
    struct arena arena = { NULL };
    struct reference *reference;
    int64_t n_results = 0;

    for (int i = 0; i < fn->ret->n_inputs; i++)
        n_results += type_elements(&fn->ret->inputs[i]->type);
    if (n_results > 0 && n > MOST_BYTES / (int64_t)sizeof(float) / n_results) {
        diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                   "the results of %lld samples, %lld numbers each, take more than 1 GiB",
                   (long long)n, (long long)n_results);
        diag_help(ctx, "give --limit %lld, or a metric with labels",
                  (long long)(MOST_BYTES / (int64_t)sizeof(float) / n_results));
        return NULL;
    }
    reference = arena_new(&arena, struct reference);
    reference->n_results = n_results;
    reference->classes = arena_array(&arena, int, n);
    reference->results =
        bulk_alloc(&reference->bulk, (size_t)(n * n_results) * sizeof *reference->results);
    reference->arena = arena; /* it lives in its own arena */
    return reference;
}

void reference_record(struct reference *reference, int64_t sample, int class,
                      const struct tensor *outputs, int n_outputs)
{
    float *at = reference->results + sample * reference->n_results;

    reference->classes[sample] = class;
    for (int i = 0; i < n_outputs; i++)
        for (int64_t k = 0; k < type_elements(&outputs[i].type); k++)
            *at++ = (float)tensor_at(&outputs[i], k);
}

int reference_class(const struct reference *reference, int64_t sample)
{
    return reference->classes[sample];
}

double reference_cos(const struct reference *reference, int64_t sample,
                     const struct tensor *outputs, int n_outputs)
{
    const float *at = reference->results + sample * reference->n_results;
    double xx = 0, yy = 0, xy = 0, cos;

    for (int i = 0; i < n_outputs; i++)
        for (int64_t k = 0; k < type_elements(&outputs[i].type); k++, at++) {
            const double x = (double)*at, y = tensor_at(&outputs[i], k);

            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
    if (xx == 0 && yy == 0)
        return 1;
    cos = xy / sqrt(xx * yy);
    return isfinite(cos) ? cos : 0;
}

void reference_free(struct reference *reference)
{
    struct arena arena;

    if (!reference)
        return;
    bulk_release(&reference->bulk);
    arena = reference->arena;
    arena_release(&arena);
}
