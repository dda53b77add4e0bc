/* format_search_scales.c - the rule `search`: for each weight and each value the format and scale of least
 * loss, among those that the user lets it choose from. With a log, what each of them would have
 * lost is written down whatever the rule. */
#include "quantize/format_search.h"
#include "quantize/quantize_log.h"
#include "quantize/steps.h"
#include "relay_ir/ops/exact.h"

/* Of the formats to choose from, those that fit; the precision's own if there are none. */
static struct search_space space_of(struct quantization *q, const struct precision *precision,
                                    bool for_data, bool never_negative)
{
    const struct number_format *own = for_data ? &precision->data : &precision->weights;
    const struct quantize_options *options = q->options;
    int n = 0, n_auto;
    const char *const *choosable = choosable_formats(for_data, &n_auto);
    struct number_format *formats =
        arena_array(&q->ctx->perm, struct number_format, options->n_formats + n_auto + 1);

    if (own->chooses_split && options->n_formats == 0) {
        const struct number_format *splits;

        n = search_formats_afp(&q->ctx->perm, number_format_bits(own), false, &splits);
        return search_space_of(&q->ctx->perm, splits, n, options->loss);
    }
    for (int i = 0; i < options->n_formats; i++)
        if (search_takes(precision, &options->formats[i], for_data) &&
            (never_negative || !number_format_is_unsigned(&options->formats[i])))
            formats[n++] = options->formats[i];
    for (int i = 0; own->chooses_format && options->n_formats == 0 && i < n_auto; i++)
        if (number_format_parse(choosable[i], &formats[n]) &&
            (never_negative || !number_format_is_unsigned(&formats[n])) &&
            (!options->exact || exact_greatest(&formats[n].codec) > 0))
            n++;
    if (n == 0)
        formats[n++] = *own;
    return search_space_of(&q->ctx->perm, formats, n, options->loss);
}

static void write_entry(struct quantization *q, const struct quantize_log_entry *entry)
{
    if (!q->options->log)
        return;
    if (q->options->log_json)
        quantize_log_json(q->options->log, entry);
    else
        quantize_log_text(q->options->log, entry);
}

void search_weight_scales(struct quantization *q, const struct node *node, int axis,
                          const struct precision *precision, struct chosen_scales *out)
{
    const struct search_space space = space_of(q, precision, false, false);
    const struct value *weight = node->inputs[1];
    const struct type *type = &weight->type;
    const int64_t outer = axis < 0 ? 1 : type_span(type, 0, axis);
    const int64_t channels = axis < 0 ? 1 : type->dim[axis];
    const int64_t inner = type_elements(type) / outer / channels;
    struct arena *arena = &q->ctx->perm;
    struct search_result result;
    struct metrics_result metrics;

    search_weights(arena, &space, weight->data, outer, channels, inner, &result);
    if (q->options->log) {
        search_metrics(arena, &result, weight->data, outer, inner, &metrics);
        write_entry(q, &(struct quantize_log_entry){ .what = "weights",
                                                     .tensor = weight->name,
                                                     .node = node->outputs[0]->name,
                                                     .loss = space.loss,
                                                     .result = &result,
                                                     .metrics = &metrics });
    }
    *out = (struct chosen_scales){ result.trials[result.best].format, result.scales,
                                   result.n_channels };
}

static bool is_logged(const struct quantization *q, const struct calib_tensor *tensor)
{
    return map_get(&q->logged, tensor->name) != NULL;
}

bool search_data_scale(struct quantization *q, const struct precision *precision,
                       const struct value *value, struct data_scale *out)
{
    const struct search_space space = space_of(q, precision, true, is_never_negative(q, value));
    const struct calib_tensor *tensor =
        q->calibration ? calib_find(q->calibration, value->name) : NULL;
    struct arena *arena = &q->ctx->perm;
    struct search_result result;
    struct metrics_result metrics;

    if (!tensor || !tensor->histogram)
        return false;
    search_histogram(arena, &space, tensor->histogram, &result);
    if (q->options->log && !is_logged(q, tensor)) {
        search_metrics_of_histogram(arena, &result, tensor->histogram, &metrics);
        write_entry(q, &(struct quantize_log_entry){ .what = "data",
                                                     .tensor = tensor->name,
                                                     .node = "",
                                                     .loss = space.loss,
                                                     .result = &result,
                                                     .metrics = &metrics,
                                                     .magnitudes = true });
        map_set(&q->logged, tensor->name, (void *)(uintptr_t)tensor);
    }
    out->format = result.trials[result.best].format;
    out->scale = result.scales[0];
    out->zero = 0;
    return true;
}
