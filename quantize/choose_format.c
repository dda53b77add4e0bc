/* choose_format.c - the format `auto` of FP8, and where data has no sign.
 *
 * method   data: the squared error with which each format that fits rounds the measured
 *          distribution, with the scale that the rule gives it. Where a value is never negative, a
 *          code needs no sign, and unsigned formats are among them, with a mantissa of one bit
 *          more. Weights: the same of the numbers themselves. common_formats.c chooses by these
 *          errors. Without a distribution: the format with the widest range */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quantize/common_formats.h"
#include "quantize/spread.h"
#include "relay_ir/ops/exact.h"

static const char *const weight_formats[] = { "f8e4m3", "f8e3m4", "f8e2m5" };
static const char *const data_formats[ALL_FORMATS] = { "u8e4m4", "f8e4m3", "u8e3m5", "f8e3m4",
                                                       "u8e2m6", "f8e2m5", "f8e5m2" };

enum {
    N_WEIGHT_FORMATS = sizeof weight_formats / sizeof *weight_formats,
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

/* INFINITY for formats that it cannot have. False where no distribution is known. */
static bool data_noise(const struct quantization *q, const struct precision *precision,
                       const struct value *source, double noise[ALL_FORMATS])
{
    const struct calib_tensor *tensor = measured(q, source);
    const bool has_sign = !is_never_negative(q, source);
    float at[HISTOGRAM_BINS + 1];
    double count[HISTOGRAM_BINS + 1], signal = 0;
    struct spread spread;

    if (!tensor || !tensor->histogram || tensor->non_finite)
        return false;
    spread = spread_of_histogram(tensor->histogram, at, count);
    for (size_t i = 0; i < spread.n; i++)
        signal += (double)at[i] * (double)at[i] * count[i];
    for (int i = 0; i < ALL_FORMATS; i++) {
        struct number_format format;
        struct rounder rounder;
        float scale;

        noise[i] = INFINITY;
        if (!number_format_parse(data_formats[i], &format) ||
            (has_sign && number_format_is_unsigned(&format)) ||
            (q->options->exact && exact_greatest(&format.codec) == 0))
            continue;
        rounder = rounder_of(&format);
        if (!scale_of_calibration(&precision->data_scale, &format, tensor, &scale))
            scale = scale_of_numbers(&precision->data_scale, &format, NULL, 0);
        noise[i] = spread_error(&spread, &rounder, (double)scale) / (signal > 0 ? signal : 1);
    }
    return true;
}

static const char *data_key(struct quantization *q, const struct precision *precision,
                            const struct value *source)
{
    return arena_printf(&q->ctx->perm, "%s %s", precision->data_scale.name, source->name);
}

/* Of a value that is not among those that agree, or not yet, as where losses are guessed. */
static struct number_format nearest_for_data(const struct quantization *q,
                                             const struct precision *precision,
                                             const struct value *source)
{
    struct number_format format;
    double noise[ALL_FORMATS];
    int best = is_never_negative(q, source) ? 0 : 1; /* the widest range */

    if (data_noise(q, precision, source, noise))
        for (int i = 0; i < ALL_FORMATS; i++)
            best = noise[i] < noise[best] ? i : best;
    number_format_parse(data_formats[best], &format);
    return format;
}

static struct common_tensor *new_tensor(struct common_formats *common, const char *key,
                                        enum tensor_kind kind)
{
    struct common_tensor *tensor = arena_new(&common->q->ctx->perm, struct common_tensor);

    *tensor = (struct common_tensor){ .key = key, .kind = kind };
    map_set(&common->tensors, key, tensor);
    return tensor;
}

void common_formats_add_data(struct common_formats *common, const struct precision *precision,
                             const struct value *value)
{
    struct quantization *q = common->q;
    const struct precision p = precision_with_rule(q, precision);
    const struct value *source = data_scale_source(value);
    const char *key = data_key(q, &p, source);
    double noise[ALL_FORMATS];

    if (p.data.chooses_format && p.data_scale.kind != SCALE_SEARCH && /* which chooses itself */
        !map_get(&common->tensors, key) && data_noise(q, &p, source, noise))
        memcpy(new_tensor(common, key, is_never_negative(q, source) ? KIND_UNSIGNED : KIND_SIGNED)
                   ->noise,
               noise, sizeof noise);
}

struct number_format data_format_of(struct quantization *q, const struct precision *precision,
                                    const struct value *source)
{
    const struct number_format *format = &precision->data;
    const struct number_format *chosen;

    if (!format->chooses_format)
        return number_format_is_unsigned(format) && !is_never_negative(q, source)
                   ? number_format_signed(format)
                   : *format;
    if (precision->data_scale.kind == SCALE_SEARCH)
        return *format; /* which chooses formats itself */
    chosen = map_get(&q->formats, data_key(q, precision, source));
    return chosen ? *chosen : nearest_for_data(q, precision, source);
}

const char *const *choosable_formats(bool for_data, int *n)
{
    *n = for_data ? ALL_FORMATS : N_WEIGHT_FORMATS;
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

static void weights_noise(const struct value *weight, int axis, const struct scale_rule *rule,
                          double noise[N_WEIGHT_FORMATS])
{
    const struct type *type = &weight->type;
    const int64_t n = type_elements(type), channels = axis < 0 ? 1 : type->dim[axis];
    const int64_t outer = axis < 0 ? 1 : type_span(type, 0, axis);
    struct precision precision = { .has_weights = true, .weight_scale = *rule };
    struct bulk bulk = { 0 };
    float *rounded = bulk_alloc(&bulk, (size_t)n * sizeof *rounded);

    for (int i = 0; i < N_WEIGHT_FORMATS; i++) {
        noise[i] =
            n > 0 && number_format_parse(weight_formats[i], &precision.weights) ? 0 : INFINITY;
        if (noise[i] > 0)
            continue;
        weights_round(weight, axis, &precision, rounded);
        for (int64_t c = 0; c < channels; c++)
            noise[i] += noise_of(weight->data, rounded, outer, channels, c, n / outer / channels) /
                        (double)channels;
    }
    bulk_release(&bulk);
}

struct number_format weights_nearest_format(const struct value *weight, int axis,
                                            const struct scale_rule *rule)
{
    struct number_format format;
    double noise[N_WEIGHT_FORMATS];
    int best = 0;

    weights_noise(weight, axis, rule, noise);
    for (int i = 1; i < N_WEIGHT_FORMATS; i++)
        best = noise[i] < noise[best] ? i : best;
    number_format_parse(weight_formats[best], &format);
    return format;
}

static const char *weight_key(struct quantization *q, const struct precision *precision,
                              const struct value *weight, int axis)
{
    return arena_printf(&q->ctx->perm, "%s %d %s", precision->weight_scale.name, axis,
                        weight->name);
}

void common_formats_add_weight(struct common_formats *common, const struct precision *precision,
                               const struct value *weight, int axis)
{
    const char *key = weight_key(common->q, precision, weight, axis);
    double noise[N_WEIGHT_FORMATS];
    struct common_tensor *tensor;

    if (!precision->weights.chooses_format || precision->weight_scale.kind == SCALE_SEARCH ||
        map_get(&common->tensors, key))
        return;
    weights_noise(weight, axis, &precision->weight_scale, noise);
    tensor = new_tensor(common, key, KIND_WEIGHT);
    for (int i = 0; i < ALL_FORMATS; i++) {
        tensor->noise[i] = INFINITY;
        for (int k = 0; k < N_WEIGHT_FORMATS; k++)
            if (strcmp(data_formats[i], weight_formats[k]) == 0)
                tensor->noise[i] = noise[k];
    }
}

struct number_format weight_format_of(struct quantization *q, const struct precision *precision,
                                      const struct value *weight, int axis)
{
    const struct number_format *chosen =
        precision->weights.chooses_format
            ? map_get(&q->formats, weight_key(q, precision, weight, axis))
            : NULL;

    return chosen ? *chosen : precision->weights;
}

/* --- both ------------------------------------------------------------------------------------- */

static void write_log(const struct quantize_options *options, const struct format_set *set,
                      size_t n)
{
    if (!options->log || options->log_json) /* whose lines are searches */
        return;
    writer_text(options->log, "# formats by auto:");
    for (int i = 0; i < ALL_FORMATS; i++)
        if (set->formats >> i & 1)
            writer_printf(options->log, " %s", data_formats[i]);
    writer_printf(options->log,
                  "; expected noise %.4g, of all formats %.4g; exceptions: %d of %zu tensors\n",
                  set->noise, set->least, set->n_exceptions, n);
}

void common_formats_agree(struct common_formats *common)
{
    struct quantization *q = common->q;

    if (common->tensors.n == 0)
        return;
    common_formats_choose(common, q->n_formats);
    q->set = common->set;
    for (size_t i = 0; i < common->tensors.n; i++) {
        const struct common_tensor *tensor = common->tensors.entries[i].value;
        struct number_format *format = arena_new(&q->ctx->perm, struct number_format);

        number_format_parse(data_formats[tensor->format], format);
        map_set(&q->formats, tensor->key, format);
    }
    write_log(q->options, &q->set, common->tensors.n);
}
