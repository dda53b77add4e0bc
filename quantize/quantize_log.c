#include "quantize/quantize_log.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/points.h"

/* --- moments ---------------------------------------------------------------------------------- */

void search_metrics(struct arena *arena, const struct search_result *result, const float *numbers,
                    int64_t outer, int64_t inner, struct metrics_result *out)
{
    const struct rounder rounder = rounder_of(&result->trials[result->best].format);
    struct metrics *metrics = metrics_new(arena);
    float *y = arena_array(arena, float, inner);

    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < outer * result->n_channels; i++) {
            const float *x = numbers + i * inner;

            rounder_simulate(&rounder, x, (double)result->scales[i % result->n_channels], y,
                             (size_t)inner);
            (pass ? metrics_add : metrics_range)(metrics, x, y, inner);
        }
    metrics_result(metrics, out);
}

void search_metrics_of_histogram(struct arena *arena, const struct search_result *result,
                                 const struct histogram *histogram, struct metrics_result *out)
{
    const struct rounder rounder = rounder_of(&result->trials[result->best].format);
    float *at = arena_array(arena, float, POINTS_SORTED);
    float *y = arena_array(arena, float, POINTS_SORTED);
    double *count = arena_array(arena, double, POINTS_SORTED);
    const struct spread spread = spread_of_histogram(histogram, at, count);

    rounder_simulate(&rounder, at, (double)result->scales[0], y, spread.n);
    metrics_of_counted(arena, at, y, count, (int64_t)spread.n, out);
}

/* --- text ------------------------------------------------------------------------------------- */

void quantize_log_head(struct writer *writer)
{
    writer_text(writer, "# Trials per tensor: format, scale rule and losses "
                        "(docs/guide/scales.md). '*' marks the\n# chosen one, by the named loss. "
                        "With scales per channel, the least and the greatest are\n# given.\n");
}

static const char *scales_text(struct arena *arena, const struct trial *trial)
{
    if (trial->least_scale == trial->greatest_scale)
        return arena_printf(arena, "%.6g", (double)trial->least_scale);
    return arena_printf(arena, "%.6g .. %.6g", (double)trial->least_scale,
                        (double)trial->greatest_scale);
}

/* Widths of the columns whose texts vary. */
struct widths {
    int format, rule, scales;
};

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static void write_trials(struct writer *writer, struct arena *arena,
                         const struct search_result *result)
{
    struct widths w = { (int)strlen("format"), (int)strlen("rule"), (int)strlen("scale") };

    for (int i = 0; i < result->n; i++) {
        w.format = wider(w.format, result->trials[i].format.name);
        w.rule = wider(w.rule, result->trials[i].scale);
        w.scales = wider(w.scales, scales_text(arena, &result->trials[i]));
    }
    writer_printf(writer, "  %-*s  %-*s  %-*s", w.format, "format", w.rule, "rule", w.scales,
                  "scale");
    for (int k = 0; k < LOSS_COUNT; k++)
        writer_printf(writer, "  %11s", loss_name((enum loss)k));
    writer_text(writer, "\n");
    for (int i = 0; i < result->n; i++) {
        const struct trial *t = &result->trials[i];

        writer_printf(writer, "%c %-*s  %-*s  %-*s", i == result->best ? '*' : ' ', w.format,
                      t->format.name, w.rule, t->scale, w.scales, scales_text(arena, t));
        for (int k = 0; k < LOSS_COUNT; k++)
            writer_printf(writer, "  %11.5g", t->loss[k]);
        writer_text(writer, "\n");
    }
}

static void write_moments(struct writer *writer, const char *name, const struct moments *m)
{
    writer_printf(writer, "  %-9s  %11.5g  %11.5g  %11.5g  %11.5g  %11.5g  %11.5g\n", name, m->mean,
                  m->std, m->min, m->max, m->skewness, m->kurtosis);
}

static void write_all_moments(struct writer *writer, const struct metrics_result *m,
                              bool magnitudes)
{
    writer_printf(writer, "  %-9s  %11s  %11s  %11s  %11s  %11s  %11s\n",
                  magnitudes ? "of |x|" : "", "mean", "std", "min", "max", "skewness", "kurtosis");
    write_moments(writer, "data", &m->data);
    write_moments(writer, "quantised", &m->quantized);
    write_moments(writer, "noise", &m->noise);
}

/* As str_safe shows it, of any length. */
static const char *safe(struct arena *arena, const char *name)
{
    return str_safe(arena, name, 4 * strlen(name) + 1);
}

void quantize_log_text(struct writer *writer, const struct quantize_log_entry *entry)
{
    struct arena arena = { NULL };
    const struct search_result *result = entry->result;

    writer_printf(writer, "\n%s %s", entry->what, safe(&arena, entry->tensor));
    if (*entry->node)
        writer_printf(writer, " of %s", safe(&arena, entry->node));
    writer_printf(writer, ": %llu numbers", (unsigned long long)result->n_numbers);
    if (result->n_channels > 1)
        writer_printf(writer, ", %lld channels", (long long)result->n_channels);
    if (result->non_finite)
        writer_printf(writer, ", %llu not finite, ignored", (unsigned long long)result->non_finite);
    writer_printf(writer, ", by %s\n", loss_name(entry->loss));
    write_trials(writer, &arena, result);
    if (entry->metrics)
        write_all_moments(writer, entry->metrics, entry->magnitudes);
    arena_release(&arena);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* What str_safe leaves of a name has backslashes, which JSON wants twice. */
static void write_string(struct writer *writer, struct arena *arena, const char *text)
{
    writer_text(writer, "\"");
    for (const char *at = safe(arena, text); *at; at++)
        writer_write(writer, *at == '\\' ? "\\\\" : at, *at == '\\' ? 2 : 1);
    writer_text(writer, "\"");
}

/* JSON has no infinity. */
static void write_number(struct writer *writer, const char *key, double number)
{
    if (isfinite(number))
        writer_printf(writer, "\"%s\":%.9g", key, number);
    else
        writer_printf(writer, "\"%s\":null", key);
}

static void write_losses(struct writer *writer, const double loss[LOSS_COUNT])
{
    for (int k = 0; k < LOSS_COUNT; k++) {
        writer_text(writer, ",");
        write_number(writer, loss_name((enum loss)k), loss[k]);
    }
}

static void write_moments_json(struct writer *writer, const char *key, const struct moments *m)
{
    writer_printf(writer, ",\"%s\":{", key);
    write_number(writer, "mean", m->mean);
    writer_text(writer, ",");
    write_number(writer, "std", m->std);
    writer_text(writer, ",");
    write_number(writer, "min", m->min);
    writer_text(writer, ",");
    write_number(writer, "max", m->max);
    writer_text(writer, ",");
    write_number(writer, "skewness", m->skewness);
    writer_text(writer, ",");
    write_number(writer, "kurtosis", m->kurtosis);
    writer_text(writer, ",\"histogram\":[");
    for (int i = 0; i < MOMENT_BINS; i++)
        writer_printf(writer, "%s%llu", i ? "," : "", (unsigned long long)m->histogram[i]);
    writer_text(writer, "]}");
}

void quantize_log_json(struct writer *writer, const struct quantize_log_entry *entry)
{
    struct arena arena = { NULL };
    const struct search_result *result = entry->result;

    writer_printf(writer, "{\"what\":\"%s\",\"tensor\":", entry->what);
    write_string(writer, &arena, entry->tensor);
    writer_text(writer, ",\"node\":");
    write_string(writer, &arena, entry->node);
    writer_printf(writer,
                  ",\"numbers\":%llu,\"not_finite\":%llu,\"channels\":%lld,\"loss\":\"%s\","
                  "\"best\":%d,\"trials\":[",
                  (unsigned long long)result->n_numbers, (unsigned long long)result->non_finite,
                  (long long)result->n_channels, loss_name(entry->loss), result->best);
    for (int i = 0; i < result->n; i++) {
        const struct trial *t = &result->trials[i];

        writer_printf(writer, "%s{\"format\":\"%s\",\"rule\":\"%s\",", i ? "," : "", t->format.name,
                      t->scale);
        write_number(writer, "least_scale", (double)t->least_scale);
        writer_text(writer, ",");
        write_number(writer, "greatest_scale", (double)t->greatest_scale);
        write_losses(writer, t->loss);
        writer_text(writer, "}");
    }
    writer_text(writer, "]");
    if (entry->metrics) {
        writer_printf(writer, ",\"magnitudes\":%s", entry->magnitudes ? "true" : "false");
        write_moments_json(writer, "data", &entry->metrics->data);
        write_moments_json(writer, "quantised", &entry->metrics->quantized);
        write_moments_json(writer, "noise", &entry->metrics->noise);
    }
    writer_text(writer, "}\n");
    arena_release(&arena);
}
