/* compare_log.c - a comparison as text and as JSON. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/compare.h"

static const char *kind_of(const struct compared_layer *layer)
{
    const char *name;

    if (layer->op == OP_COUNT)
        return "weights";
    name = op_name(layer->op);
    return str_starts(name, "nn.") ? name + 3 : name;
}

static int widest_name(const struct comparison *c, struct arena *arena)
{
    size_t most = 5;

    for (int i = 0; i < c->n; i++) {
        const size_t n = strlen(str_safe(arena, c->layers[i].name, 60));

        most = n > most ? n : most;
    }
    return (int)most;
}

static void write_table(struct writer *writer, const struct comparison *c, struct arena *arena)
{
    const int width = widest_name(c, arena);

    writer_printf(writer, "%-*s  %-18s %12s %12s %12s %12s %12s\n", width, "layer", "what", "mse",
                  "mae", "snr", "kld", "cos");
    for (int i = 0; i < c->n; i++) {
        const struct compared_layer *layer = &c->layers[i];

        writer_printf(writer, "%-*s  %-18s", width, str_safe(arena, layer->name, 60),
                      kind_of(layer));
        for (int k = 0; k < LOSS_COUNT; k++)
            writer_printf(writer, " %12.5g", layer->metrics.loss[k]);
        writer_text(writer, layer->is_result ? "  result\n" : "\n");
    }
}

static void write_moments(struct writer *writer, const char *what, const struct moments *m)
{
    writer_printf(writer, "  %-10s %12.5g %12.5g %12.5g %12.5g %12.5g %12.5g\n", what, m->mean,
                  m->std, m->min, m->max, m->skewness, m->kurtosis);
}

static void write_histogram(struct writer *writer, const char *what, const struct moments *m)
{
    writer_printf(writer, "  %-10s", what);
    for (int i = 0; i < MOMENT_BINS; i++)
        writer_printf(writer, " %llu", (unsigned long long)m->histogram[i]);
    writer_text(writer, "\n");
}

static void write_layer(struct writer *writer, const struct compared_layer *layer,
                        struct arena *arena)
{
    const struct metrics_result *r = &layer->metrics;

    writer_printf(writer, "\n%s (%s), %llu numbers", str_safe(arena, layer->name, 4096),
                  kind_of(layer), (unsigned long long)r->n);
    if (r->non_finite)
        writer_printf(writer, ", %llu more that are not finite", (unsigned long long)r->non_finite);
    writer_printf(writer, "\n  %-10s %12s %12s %12s %12s %12s %12s\n", "", "mean", "std", "min",
                  "max", "skewness", "kurtosis");
    write_moments(writer, "data", &r->data);
    write_moments(writer, "quantised", &r->quantized);
    write_moments(writer, "noise", &r->noise);
    writer_text(writer, "  histograms, 32 equal bins from min to max\n");
    write_histogram(writer, "data", &r->data);
    write_histogram(writer, "quantised", &r->quantized);
    write_histogram(writer, "noise", &r->noise);
}

void compare_write_text(struct writer *writer, const struct comparison *c)
{
    struct arena arena = { NULL };

    writer_printf(
        writer,
        "# The quantised model against the float one, layer by layer, on %lld %ssample%s.\n"
        "# All losses: 0 is best. snr = noise power / signal power, cos = 1 - cosine; see\n"
        "# docs/guide/scales.md. Values carry the errors of all layers before them.\n\n",
        (long long)c->n_samples, c->random ? "random " : "", str_plural(c->n_samples));
    write_table(writer, c, &arena);
    for (int i = 0; i < c->n; i++)
        write_layer(writer, &c->layers[i], &arena);
    arena_release(&arena);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* JSON has no infinity. */
static void write_number(struct writer *writer, const char *key, double number)
{
    if (isfinite(number))
        writer_printf(writer, "\"%s\":%.9g", key, number);
    else
        writer_printf(writer, "\"%s\":null", key);
}

static void write_moments_json(struct writer *writer, const char *key, const struct moments *m)
{
    const double numbers[] = { m->mean, m->std, m->min, m->max, m->skewness, m->kurtosis };
    static const char *const keys[] = { "mean", "std", "min", "max", "skewness", "kurtosis" };

    writer_printf(writer, ",\n   \"%s\":{", key);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        write_number(writer, keys[i], numbers[i]);
        writer_text(writer, ",");
    }
    writer_text(writer, "\"histogram\":[");
    for (int i = 0; i < MOMENT_BINS; i++)
        writer_printf(writer, "%s%llu", i ? "," : "", (unsigned long long)m->histogram[i]);
    writer_text(writer, "]}");
}

static void write_layer_json(struct writer *writer, const struct compared_layer *layer,
                             struct arena *arena)
{
    const struct metrics_result *r = &layer->metrics;

    writer_text(writer, "  {\"name\":\"");
    for (const char *at = str_safe(arena, layer->name, 4096); *at; at++)
        writer_write(writer,
                     *at == '\\'  ? "\\\\"
                     : *at == '"' ? "\\\""
                                  : at,
                     *at == '\\' || *at == '"' ? 2 : 1);
    writer_printf(writer, "\",\"op\":\"%s\",\"result\":%s,\"numbers\":%llu,\"not_finite\":%llu",
                  kind_of(layer), layer->is_result ? "true" : "false", (unsigned long long)r->n,
                  (unsigned long long)r->non_finite);
    for (int k = 0; k < LOSS_COUNT; k++) {
        writer_text(writer, ",");
        write_number(writer, loss_name((enum loss)k), r->loss[k]);
    }
    write_moments_json(writer, "data", &r->data);
    write_moments_json(writer, "quantised", &r->quantized);
    write_moments_json(writer, "noise", &r->noise);
    writer_text(writer, "}");
}

void compare_write_json(struct writer *writer, const struct comparison *c)
{
    struct arena arena = { NULL };

    writer_printf(writer, "{\"schema\":\"relayc-compare-1\",\"samples\":%lld,\"layers\":[\n",
                  (long long)c->n_samples);
    for (int i = 0; i < c->n; i++) {
        write_layer_json(writer, &c->layers[i], &arena);
        writer_text(writer, i + 1 < c->n ? ",\n" : "\n");
    }
    writer_text(writer, "]}\n");
    arena_release(&arena);
}
