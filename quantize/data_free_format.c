/* data_free_format.c - formats by the squared error of the numbers: of weights by themselves, of data by what batch
 * norms say of it. Data that cannot be negative has no sign. */
#include <string.h>

#include "quantize/data_free.h"

/* Of equal ones the first is chosen. */
static const char *const weight_formats[] = { "f8e4m3", "f8e3m4", "f8e2m5", NULL };
static const char *const data_formats[] = { "f8e4m3", "f8e3m4", NULL };
static const char *const unsigned_formats[] = { "u8e4m4", "u8e3m5", "u8e2m6", NULL };

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

struct precision precision_for_weight(const struct precision *precision, const struct value *weight,
                                      int axis)
{
    struct precision best = *precision;
    struct bulk bulk = { 0 };
    double least = 0;
    float *rounded;

    if (!precision->chooses_formats ||
        (precision->mode != PRECISION_FP8 && precision->mode != PRECISION_FP8W))
        return best;
    rounded = bulk_alloc(&bulk, (size_t)type_elements(&weight->type) * sizeof *rounded);
    for (int i = 0; weight_formats[i]; i++) {
        struct precision trial = *precision;
        double error;

        if (!number_format_parse(weight_formats[i], &trial.weights))
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

struct number_format data_free_format(const struct quantization *q,
                                      const struct precision *precision, const struct value *source,
                                      const struct calib_tensor *tensor)
{
    const bool has_sign = !precision->chooses_formats || !is_never_negative(q, source);
    const char *const *candidates = has_sign ? data_formats : unsigned_formats;
    struct number_format best = precision->data;
    double least = 0;

    if (!has_sign)
        number_format_parse(candidates[0], &best);
    if (!precision->chooses_formats || !tensor || !tensor->histogram ||
        tensor->histogram->limit <= 0)
        return best;
    for (int i = 0; candidates[i]; i++) {
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
