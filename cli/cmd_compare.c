/* cmd_compare.c - layer by layer, what storing small numbers costs. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "frontend/tensors/samples.h"
#include "quantize/compare.h"
#include "relay_ir/passes/pipeline.h"

enum { SHOWN = 10 }; /* layers on standard output */

/* The float model and its simulation, from two readings of the file. */
struct compared {
    struct module *reference, *quantized;
};

static bool load_both(struct cli *cli, struct compared *both)
{
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE,
                                              .keep_recurrent = precision_keeps_recurrent(cli),
                                              .log = stderr };

    both->reference = load_model(cli);
    both->quantized = both->reference ? load_model(cli) : NULL;
    if (!both->quantized)
        return false;
    collect_for_precision(cli, both->quantized);
    simulate_precision(cli);
    return pipeline_run(both->reference, &prepare) && pipeline_run(both->quantized, &prepare) &&
           run_precision(cli, both->quantized, &prepare);
}

/* --- data: --data, or --input, or random numbers ---------------------------------------------- */

struct given {
    const struct tensor *inputs;
    int n;
};

static bool load_given(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                       struct tensor *inputs)
{
    const struct given *given = user;

    (void)ctx;
    (void)bulk;
    (void)index;
    memcpy(inputs, given->inputs, (size_t)given->n * sizeof *inputs);
    return true;
}

static bool load_sample(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    return samples_load(user, ctx, bulk, index, inputs);
}

static bool compare(struct cli *cli, const struct compared *both, struct comparison *out)
{
    const struct function *fn = both->reference->main;
    struct calibration_source source = { .n = 1 };
    const bool on_data =
        has_option(&cli->args, OPTION_DATA) && !has_option(&cli->args, OPTION_INPUT);
    struct samples *samples = on_data ? open_samples(cli, fn, &source.n) : NULL;
    struct given given = { .n = fn->n_params };
    struct tensor *inputs;
    bool ok;

    if (!samples && on_data)
        return false;
    if (samples) {
        source.load = load_sample;
        source.user = samples;
    } else if (load_inputs(cli, fn, &inputs)) {
        given.inputs = inputs;
        source.load = load_given;
        source.user = &given;
    } else {
        return false;
    }
    ok = compare_modules(cli->ctx, both->reference, both->quantized, &source, out);
    out->random = !on_data && !has_option(&cli->args, OPTION_INPUT);
    samples_close(samples);
    return ok;
}

/* --- the report ------------------------------------------------------------------------------- */

/* "precision_compare.log" -> "precision_compare.json" */
static const char *json_path(struct cli *cli, const char *log)
{
    const size_t n = strlen(log);

    return arena_printf(&cli->ctx->perm, "%.*s.json",
                        (int)(n > 4 && strcmp(log + n - 4, ".log") == 0 ? n - 4 : n), log);
}

static bool write_logs(struct cli *cli, const struct comparison *comparison)
{
    const char *log = option_text(&cli->args, OPTION_OUTPUT, "precision_compare.log");

    compare_write_text(output_open(cli->outputs, log), comparison);
    compare_write_json(output_open(cli->outputs, json_path(cli, log)), comparison);
    if (!output_finish(cli->outputs))
        return false;
    say(cli, "wrote %s, %s\n", log, json_path(cli, log));
    return true;
}

static void show_layer(struct cli *cli, const struct compared_layer *layer, cJSON *list)
{
    const double *loss = layer->metrics.loss;
    cJSON *row = list ? cJSON_CreateObject() : NULL;

    say(cli, "%-44s %-16s %10.3g %10.3g%s\n", str_safe(&cli->ctx->perm, layer->name, 44),
        op_name(layer->op), loss[LOSS_COS], loss[LOSS_SNR], layer->is_result ? "  result" : "");
    if (!list)
        return;
    cJSON_AddItemToArray(list, row);
    cJSON_AddStringToObject(row, "name", str_safe(&cli->ctx->perm, layer->name, 4096));
    for (int k = 0; k < LOSS_COUNT; k++)
        cJSON_AddNumberToObject(row, loss_name((enum loss)k), loss[k]);
}

/* The layers of greatest cosine distance, and all results. */
static void show(struct cli *cli, const struct comparison *c)
{
    bool *shown = arena_array(&cli->ctx->perm, bool, c->n);
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "worst") : NULL;

    report_precision(cli);
    if (c->random)
        say(cli, "random numbers went in: with --data or -i it tells more\n");
    say(cli, "%-44s %-16s %10s %10s\n", "the worst layers", "operator", "1 - cosine", "noise");
    for (int n = 0; n < SHOWN; n++) {
        int worst = -1;

        for (int i = 0; i < c->n; i++)
            if (!shown[i] && c->layers[i].op != OP_COUNT &&
                (worst < 0 ||
                 c->layers[i].metrics.loss[LOSS_COS] > c->layers[worst].metrics.loss[LOSS_COS]))
                worst = i;
        if (worst < 0)
            break;
        shown[worst] = true;
        show_layer(cli, &c->layers[worst], list);
    }
    for (int i = 0; i < c->n; i++)
        if (c->layers[i].is_result && !shown[i])
            show_layer(cli, &c->layers[i], list);
}

bool command_compare(struct cli *cli)
{
    struct compared both = { NULL, NULL };
    struct comparison comparison;
    bool ok;

    if (!prepare_offload(cli))
        return false;
    if (!precision_wanted(cli)) {
        diag_error(cli->ctx, DIAG_USAGE, NULL, "'relayc compare' needs --precision, or --qtable");
        diag_help(cli->ctx, "for example --precision fp8; docs/quantize.md lists them");
        return false;
    }
    ok = load_both(cli, &both) && compare(cli, &both, &comparison) && write_logs(cli, &comparison);
    if (ok)
        show(cli, &comparison);
    module_free(both.reference);
    module_free(both.quantized);
    return ok;
}
