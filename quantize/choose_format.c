/* choose_format.c - the format `auto` of FP8, and where data has no sign.
 *
 * method   data: of the formats that fit, the one that rounds the measured distribution with least
 *          squared error, each with the scale that the rule gives it. Where a value is never
 *          negative, a code needs no sign, and unsigned formats are among them, with a mantissa of
 *          one bit more. Without a distribution: the format with the widest range of these.
 *          Weights: the same of the numbers themselves */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quantize/spread.h"
#include "quantize/steps.h"
#include "relay_ir/ops/exact.h"

/* Of equal ones the first is chosen. */
static const char *const weight_formats[] = { "f8e4m3", "f8e3m4", "f8e2m5" };
static const char *const data_formats[] = { "u8e4m4", "f8e4m3", "u8e3m5", "f8e3m4",
                                            "u8e2m6", "f8e2m5", "f8e5m2" };

enum {
    N_WEIGHT_FORMATS = sizeof weight_formats / sizeof *weight_formats,
    N_DATA_FORMATS = sizeof data_formats / sizeof *data_formats,
    MOST_STEPS = 32 /* from a value to what it is made of */
};

/* --- sign ------------------------------------------------------------------------------------- */

static bool cannot_be_negative(const struct value *value, int steps);

static bool no_input_is_negative(const struct node *node, int steps)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (!cannot_be_negative(node->inputs[i], steps))
            return false;
    return true;
}

static bool has_no_negative_number(const struct value *constant)
{
    const float *numbers = constant->data;

    if (constant->type.dtype != DTYPE_F32)
        return false;
    for (int64_t i = 0; i < type_elements(&constant->type); i++)
        if (!(numbers[i] >= 0))
            return false;
    return true;
}

static bool cannot_be_negative(const struct value *value, int steps)
{
    const struct node *node = value->def;

    if (steps == 0)
        return false;
    if (value->kind == VALUE_CONSTANT)
        return has_no_negative_number(value);
    if (!node)
        return false;
    switch (node->op) {
    case OP_ABS:
    case OP_EXP:
    case OP_HARD_SIGMOID:
    case OP_RELU:
    case OP_SIGMOID:
    case OP_SOFTMAX:
    case OP_SOFTPLUS:
    case OP_SQRT: return true;
    case OP_CLIP:
        return (node->attrs.clip.a_min >= 0 && node->attrs.clip.a_max >= 0) ||
               cannot_be_negative(node->inputs[0], steps - 1);
    case OP_ADD:
    case OP_AVG_POOL1D:
    case OP_AVG_POOL2D:
    case OP_AVG_POOL3D:
    case OP_CONCATENATE:
    case OP_GLOBAL_AVG_POOL:
    case OP_MAXIMUM:
    case OP_MEAN:
    case OP_MULTIPLY:
    case OP_SUM: return no_input_is_negative(node, steps - 1);
    default: return keeps_numbers(node) && cannot_be_negative(node->inputs[0], steps - 1);
    }
}

static const struct calib_tensor *measured(const struct quantization *q, const struct value *value)
{
    return q->calibration ? calib_find(q->calibration, value->name) : NULL;
}

bool is_never_negative(const struct quantization *q, const struct value *value)
{
    const struct calib_tensor *tensor = q->is_guessed ? NULL : measured(q, value);

    return (tensor && !tensor->non_finite && tensor->min >= 0) ||
           cannot_be_negative(value, MOST_STEPS);
}

/* --- data ------------------------------------------------------------------------------------- */

static struct number_format nearest_for_data(const struct quantization *q,
                                             const struct precision *precision,
                                             const struct value *source)
{
    const struct calib_tensor *tensor = measured(q, source);
    const bool has_sign = !is_never_negative(q, source);
    struct number_format best = precision->data;
    float at[HISTOGRAM_BINS + 1];
    double count[HISTOGRAM_BINS + 1], least = INFINITY;
    struct spread spread;
    bool known = tensor && tensor->histogram && !tensor->non_finite;

    if (known)
        spread = spread_of_histogram(tensor->histogram, at, count);
    for (int i = 0; i < N_DATA_FORMATS; i++) {
        struct number_format format;
        struct rounder rounder;
        double error = i;
        float scale;

        if (!number_format_parse(data_formats[i], &format) ||
            (has_sign && number_format_is_unsigned(&format)) ||
            (q->options->exact && exact_greatest(&format.codec) == 0))
            continue;
        if (known) {
            rounder = rounder_of(&format);
            if (!scale_of_calibration(&precision->data_scale, &format, tensor, &scale))
                scale = scale_of_numbers(&precision->data_scale, &format, NULL, 0);
            error = spread_error(&spread, &rounder, (double)scale);
        }
        if (error < least) {
            least = error;
            best = format;
        }
    }
    return best;
}

struct number_format data_format_of(struct quantization *q, const struct precision *precision,
                                    const struct value *source)
{
    const struct number_format *format = &precision->data;
    struct number_format *chosen;
    const char *key;

    if (!format->chooses_format)
        return number_format_is_unsigned(format) && !is_never_negative(q, source)
                   ? number_format_signed(format)
                   : *format;
    if (precision->data_scale.kind == SCALE_SEARCH)
        return *format; /* which chooses formats itself */
    key = arena_printf(&q->ctx->perm, "%s %s", precision->data_scale.name, source->name);
    q->formats.arena = &q->ctx->perm;
    chosen = map_get(&q->formats, key);
    if (!chosen) {
        chosen = arena_new(&q->ctx->perm, struct number_format);
        *chosen = nearest_for_data(q, precision, source);
        map_set(&q->formats, key, chosen);
    }
    return *chosen;
}

const char *const *choosable_formats(bool for_data, int *n)
{
    *n = for_data ? N_DATA_FORMATS : N_WEIGHT_FORMATS;
    return for_data ? data_formats : weight_formats;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Squared error over squares. */
static double noise_of(const float *w, const float *rounded, int64_t outer, int64_t channels,
                       int64_t channel, int64_t inner)
{
    double noise = 0, signal = 0;

    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const int64_t k = (o * channels + channel) * inner + i;
            const double x = (double)w[k], error = x - (double)rounded[k];

            signal += x * x;
            noise += error * error;
        }
    return signal > 0 ? noise / signal : 0;
}

struct number_format weights_nearest_format(const struct value *weight, int axis,
                                            const struct scale_rule *rule)
{
    const struct type *type = &weight->type;
    const int64_t n = type_elements(type), channels = axis < 0 ? 1 : type->dim[axis];
    const int64_t outer = axis < 0 ? 1 : type_span(type, 0, axis);
    struct precision precision = { .has_weights = true, .weight_scale = *rule };
    struct number_format best = { .dtype = DTYPE_NONE };
    struct bulk bulk = { 0 };
    float *rounded = bulk_alloc(&bulk, (size_t)n * sizeof *rounded);
    double least = INFINITY;

    for (int i = 0; i < N_WEIGHT_FORMATS; i++) {
        double noise = 0;

        if (!number_format_parse(weight_formats[i], &precision.weights))
            continue;
        weights_round(weight, axis, &precision, rounded);
        for (int64_t c = 0; c < channels && n > 0; c++)
            noise += noise_of(weight->data, rounded, outer, channels, c, n / outer / channels);
        if (noise < least) {
            least = noise;
            best = precision.weights;
        }
    }
    bulk_release(&bulk);
    return best;
}
