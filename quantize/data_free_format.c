/* data_free_format.c - f8e4m3 or f8e3m4, by the squared error of the numbers. */
#include <string.h>

#include "quantize/data_free.h"

static const char *const candidates[] = { "f8e4m3", "f8e3m4" };

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static double error_of(const struct value *weight, int axis, const struct precision *precision,
                       float *rounded)
{
    const int64_t n = type_elements(&weight->type);
    const float *w = weight->data;
    double sum = 0;

    weights_round(weight, axis, precision, rounded);
    for (int64_t i = 0; i < n; i++)
        sum += ((double)w[i] - (double)rounded[i]) * ((double)w[i] - (double)rounded[i]);
    return sum;
}

struct precision precision_for_weight(const struct quantization *q,
                                      const struct precision *precision, const struct value *weight,
                                      int axis)
{
    struct precision best = *precision;
    struct bulk bulk = { 0 };
    double least = 0;
    float *rounded;

    if (!q->options->choose_formats ||
        (precision->mode != PRECISION_FP8 && precision->mode != PRECISION_FP8W))
        return best;
    rounded = bulk_alloc(&bulk, (size_t)type_elements(&weight->type) * sizeof *rounded);
    for (int i = 0; i < N_CANDIDATES; i++) {
        struct precision trial = *precision;
        double error;

        if (!number_format_parse(candidates[i], &trial.weights))
            continue;
        error = error_of(weight, axis, &trial, rounded);
        if (i == 0 || error < least) {
            least = error;
            best = trial;
        }
    }
    bulk_release(&bulk);
    return best;
}

struct number_format data_free_format(const struct number_format *own,
                                      const struct calib_tensor *tensor)
{
    struct number_format best = *own;
    double least = 0;

    if (!tensor->histogram || tensor->histogram->limit <= 0)
        return best;
    for (int i = 0; i < N_CANDIDATES; i++) {
        struct threshold_method method;
        char name[32] = "mse:";
        double error;

        strcat(name, candidates[i]);
        if (!threshold_method_parse(name, &method))
            continue;
        error = threshold_error(&method, tensor->histogram, tensor->histogram->limit);
        if (i == 0 || error < least) {
            least = error;
            number_format_parse(candidates[i], &best);
        }
    }
    return best;
}
