/* report_precision.c - what --precision has done, for people and --json. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/report.h"
#include "driver/precision.h"
#include "relay_ir/products.h"

/* "int8"; with a qtable, which says it for each node, "qtable", and what rows of it do not say. */
static const char *wanted_text(struct arena *arena, const struct precision_request *r)
{
    const char *text = precision_text(arena, &r->options.precision);

    if (!r->options.qtable)
        return text;
    return r->options.precision.mode == PRECISION_F32
               ? "qtable"
               : arena_printf(arena, "qtable, else %s", text);
}

static void report_json(struct cli *cli, const struct precision_request *r)
{
    const struct quantize_report *report = &r->report;
    struct arena *arena = &cli->ctx->perm;
    cJSON *json = cJSON_AddObjectToObject(cli->json, "precision"), *nodes, *rules, *floats;

    cJSON_AddStringToObject(json, "wanted", wanted_text(arena, r));
    cJSON_AddNumberToObject(json, "products", report->n_products);
    cJSON_AddNumberToObject(json, "small_products", report->n_quantized_products);
    cJSON_AddNumberToObject(json, "constant_bytes_before", (double)report->weight_bytes_before);
    cJSON_AddNumberToObject(json, "constant_bytes_after", (double)report->weight_bytes_after);
    cJSON_AddNumberToObject(json, "equalized_pairs", report->n_equalized);
    cJSON_AddNumberToObject(json, "corrected_biases", report->n_corrected);
    cJSON_AddNumberToObject(json, "uncorrected_biases", report->n_uncorrected);
    cJSON_AddNumberToObject(json, "smoothed_norms", report->n_smoothed);
    cJSON_AddBoolToObject(json, "smoothing_taken_back", report->is_roughened);
    cJSON_AddNumberToObject(json, "rounded_products", report->n_rounded);
    cJSON_AddBoolToObject(json, "rounding_taken_back", report->is_unrounded);
    cJSON_AddBoolToObject(json, "corrections_taken_back", report->is_restored);
    if (report->noise >= 0)
        cJSON_AddNumberToObject(json, "estimated_noise", report->noise);
    cJSON_AddNumberToObject(json, "float_products", r->n_float_products);
    rules = cJSON_AddArrayToObject(json, "data_scale_rules");
    for (int i = 0; i < report->n_rules; i++) {
        cJSON *rule = cJSON_CreateObject();

        cJSON_AddItemToArray(rules, rule);
        cJSON_AddStringToObject(rule, "rule", report->rules[i].name);
        cJSON_AddNumberToObject(rule, "loss", report->rules[i].loss);
        cJSON_AddBoolToObject(rule, "chosen", i == report->chosen_rule);
    }
    floats = cJSON_AddArrayToObject(json, "float_nodes");
    for (int i = 0; i < r->n_floats; i++)
        cJSON_AddItemToArray(floats, cJSON_CreateString(str_safe(arena, r->float_names[i], 4096)));
    nodes = cJSON_AddArrayToObject(json, "nodes");
    for (int i = 0; i < report->n; i++) {
        const struct quantize_line *line = &report->lines[i];
        cJSON *node = cJSON_CreateObject();

        cJSON_AddItemToArray(nodes, node);
        cJSON_AddStringToObject(node, "name", str_safe(arena, line->node, 4096));
        cJSON_AddStringToObject(node, "op", op_name(line->op));
        cJSON_AddStringToObject(node, "precision", precision_text(arena, &line->precision));
        if (line->why)
            cJSON_AddStringToObject(node, "why", line->why);
    }
}

static void report_corrections(struct cli *cli, const struct quantize_report *report)
{
    const char *why = cli->driver->precision->options.bias == BIAS_DATA_FREE
                          ? "no batch norm gives the distribution of their data"
                          : "their weights are computed, or a vector";

    if (report->n_equalized)
        say(cli, "  equal   weights of the same range in %d pair%s of layers\n",
            report->n_equalized, str_plural(report->n_equalized));
    if (report->is_roughened)
        say(cli,
            "  norms   not smoothed: the results would be further from the float model's (1 - "
            "cosine %.3g) than now (%.3g)\n",
            report->smooth_after, report->smooth_before);
    else if (report->n_smoothed || report->n_unsmoothed)
        say(cli, "  norms   smoothed: %d, as they were: %d\n", report->n_smoothed,
            report->n_unsmoothed);
    if (report->is_unrounded)
        say(cli,
            "  weights to nearest: rounded otherwise, the results would be further from the float "
            "model's (1 - cosine %.3g) than now (%.3g)\n",
            report->round_after, report->round_before);
    else if (report->n_rounded)
        say(cli, "  weights of %d product%s rounded for the results, %d to nearest\n",
            report->n_rounded, str_plural(report->n_rounded), report->n_unrounded);
    if (report->n_corrected)
        say(cli, "  biases  corrected in %d product%s\n", report->n_corrected,
            str_plural(report->n_corrected));
    if (report->is_restored)
        say(cli,
            "  biases  not corrected: the results would be further from the float model's (1 - "
            "cosine %.3g) than now (%.3g)\n",
            report->loss_after, report->loss_before);
    else if (report->n_uncorrected)
        say(cli, "  biases  left alone in %d product%s: %s\n", report->n_uncorrected,
            str_plural(report->n_uncorrected), why);
}

/* Without data: of synthetic inputs, a tenth of a decibel would be too sharp. */
static void report_noise(struct cli *cli, const struct quantize_report *report)
{
    if (report->noise >= 0)
        say(cli, "  loss    estimated on synthetic inputs: the results differ by %s%.0f %%\n",
            report->noise < 1e-4 ? "less than " : "", fmax(1, 100 * sqrt(report->noise)));
}

/* Results that are indices do not depend on scales. */
static bool is_decided(const struct quantize_report *report)
{
    for (int i = 0; i < report->n_rules; i++)
        if (report->rules[i].loss != report->rules[0].loss)
            return true;
    return false;
}

static void report_rules(struct cli *cli, const struct quantize_report *report)
{
    struct str others = { .arena = &cli->ctx->perm };
    const struct quantize_rule *chosen = &report->rules[report->chosen_rule];

    for (int i = 0; i < report->n_rules; i++)
        if (i != report->chosen_rule)
            str_printf(&others, "%s%s %.3g", others.n ? ", " : "", report->rules[i].name,
                       report->rules[i].loss);
    if (is_decided(report))
        say(cli, "  scales  of data by %s, by which the results lose least (1 - cosine %.3g; %s)\n",
            chosen->name, chosen->loss, str_text(&others));
}

/* Layers that are kept: in f32, or in the precision for those that lose most. */
static void report_kept(struct cli *cli, const struct precision_request *r)
{
    struct arena *arena = &cli->ctx->perm;
    const struct precision *other = r->options.topk_precision;
    const char *wanted = precision_text(arena, &r->options.precision);
    const char *kept = other ? precision_text(arena, other) : wanted;

    for (int i = 0; i < r->report.n; i++) {
        const struct quantize_line *line = &r->report.lines[i];
        const char *text = precision_text(arena, &line->precision);

        if (!is_product(line->op))
            continue;
        if (line->why)
            say(cli, "  f32     %s (%s): %s\n", str_safe(arena, line->node, 100), op_name(line->op),
                line->why);
        else if (strcmp(text, kept) == 0 && strcmp(text, wanted) != 0)
            say(cli, "  %-7s %s (%s): among those that lose most\n", text,
                str_safe(arena, line->node, 100), op_name(line->op));
    }
}

void report_precision(struct cli *cli)
{
    const struct precision_request *r = cli->driver->precision;
    const struct quantize_report *report = &r->report;
    struct arena *arena = &cli->ctx->perm;

    if (!r->done)
        return;
    if (cli->json) {
        report_json(cli, r);
        return;
    }
    say(cli, "%s: %d of %d product%s, constants %zu -> %zu bytes\n", wanted_text(arena, r),
        report->n_quantized_products, report->n_products, str_plural(report->n_products),
        report->weight_bytes_before, report->weight_bytes_after);
    report_rules(cli, report);
    report_corrections(cli, report);
    report_noise(cli, report);
    if (report->n_f32_io)
        say(cli,
            "  f32     %d of the model's inputs and outputs: not all who read them read integers\n",
            report->n_f32_io);
    report_kept(cli, r);
}
