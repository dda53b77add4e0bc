/* cmd_compare.c - layer by layer, what storing quantised values costs; and what the generated C
 * makes of it in the end. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/host_code.h"
#include "frontend/tensors/samples.h"
#include "quantize/compare.h"
#include "runtime/engine/engine.h"

enum { SHOWN = 10 }; /* layers on standard output */

/* The float model and its simulation, from two readings of the file. */
struct compared {
    struct module *reference, *quantized;
};

static bool load_both(struct cli *cli, struct compared *both)
{
    struct driver_state *driver = cli->driver;
    const bool keep = precision_keeps_recurrent(driver);

    both->reference = load_model(driver);
    both->quantized = both->reference ? load_model(driver) : NULL;
    if (!both->quantized)
        return false;
    collect_for_precision(driver, both->quantized);
    simulate_precision(driver);
    driver->module = both->quantized;
    return simplify_floats(driver, both->reference, keep) &&
           simplify_floats(driver, both->quantized, keep) && stage_quantize(driver);
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

/* What the generated C gives, against the float model on the engine. NULL: not asked for. */
struct realised {
    struct module *module;
    struct host_code code;
    int n;                    /* results */
    struct loss_sums *sums;   /* [n], over all samples */
    int64_t n_samples, *same; /* [n] samples whose greatest number is at the same place */
};

static bool realise(struct cli *cli, struct realised *r)
{
    realise_precision(cli->driver);
    r->module = load_model(cli->driver);
    if (!r->module || !run_passes(cli->driver, r->module))
        return false;
    function_number(r->module->main);
    r->n = r->module->main->ret->n_inputs;
    r->sums = arena_array(&cli->ctx->perm, struct loss_sums, r->n);
    r->same = arena_array(&cli->ctx->perm, int64_t, r->n);
    return host_code_build(cli->driver, r->module, false, &r->code);
}

static double real_number(const struct tensor *tensor, const struct qtype *q, int64_t i)
{
    const double code = tensor_at(tensor, i);

    return q && q->kind == QTYPE_SCALED && q->n == 1
               ? (double)q->scale[0] * (code - (q->zero ? q->zero[0] : 0))
               : code;
}

static void add_result(struct realised *r, int i, const struct tensor *wanted,
                       const struct tensor *found)
{
    const struct qtype *q = r->module->main->ret->inputs[i]->type.quant;
    struct loss_sums *s = &r->sums[i];
    int64_t best_x = 0, best_y = 0;

    for (int64_t k = 0; k < type_elements(&wanted->type); k++) {
        const double x = tensor_at(wanted, k), y = real_number(found, q, k);

        if (x > tensor_at(wanted, best_x))
            best_x = k;
        if (y > real_number(found, q, best_y))
            best_y = k;
        if (!isfinite(x) || !isfinite(y))
            continue;
        s->n++;
        s->noise += (x - y) * (x - y);
        s->absolute += fabs(x - y);
        s->xx += x * x;
        s->yy += y * y;
        s->xy += x * y;
    }
    r->same[i] += best_x == best_y;
}

static bool realised_sample(struct cli *cli, struct realised *r, struct engine *engine,
                            const struct calibration_source *source, int64_t sample)
{
    const struct function *fn = r->module->main;
    struct arena *scratch = &cli->ctx->scratch;
    struct tensor *inputs = arena_array(scratch, struct tensor, fn->n_params);
    struct tensor *wanted = arena_array(scratch, struct tensor, r->n);
    struct tensor *found = arena_array(scratch, struct tensor, r->n);
    struct bulk bulk = { 0 };
    bool ok = source->load(source->user, cli->ctx, &bulk, sample, inputs) &&
              engine_run(engine, inputs, wanted, &bulk, NULL) &&
              fit_inputs(cli->driver, fn, inputs) &&
              generated_run(r->code.generated, inputs, found, &bulk);

    for (int i = 0; i < r->n && ok; i++)
        add_result(r, i, &wanted[i], &found[i]);
    r->n_samples += ok;
    bulk_release(&bulk);
    return ok;
}

static bool run_realised(struct cli *cli, const struct compared *both,
                         const struct calibration_source *source, struct realised *r)
{
    struct engine *engine;
    bool ok;

    if (!r)
        return true;
    engine = engine_new(cli->ctx, both->reference->main);
    ok = engine != NULL;
    for (int64_t i = 0; i < source->n && ok; i++)
        ok = realised_sample(cli, r, engine, source, i);
    engine_free(engine);
    return ok;
}

static bool compare(struct cli *cli, const struct compared *both, struct comparison *out,
                    struct realised *realised)
{
    const struct function *fn = both->reference->main;
    struct calibration_source source = { .n = 1 };
    const bool on_data = has_option(&cli->driver->args, OPTION_DATA) &&
                         !has_option(&cli->driver->args, OPTION_INPUT);
    struct samples *samples = on_data ? open_samples(cli->driver, fn, &source.n) : NULL;
    struct given given = { .n = fn->n_params };
    struct tensor *inputs;
    bool ok;

    if (!samples && on_data)
        return false;
    if (samples) {
        source.load = load_sample;
        source.user = samples;
    } else if (load_inputs(cli->driver, fn, &inputs)) {
        given.inputs = inputs;
        source.load = load_given;
        source.user = &given;
    } else {
        return false;
    }
    ok = compare_modules(cli->ctx, both->reference, both->quantized, &source, out) &&
         run_realised(cli, both, &source, realised);
    out->random = !on_data && !has_option(&cli->driver->args, OPTION_INPUT);
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
    const char *log = option_text(&cli->driver->args, OPTION_OUTPUT, "precision_compare.log");

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
        say(cli, "inputs were random; use --data or -i for meaningful results\n");
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

/* The whole network, as it ships. */
static void show_realised(struct cli *cli, const struct realised *r)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "generated") : NULL;

    say(cli, "%-61s %10s %10s %8s\n",
        arena_printf(&cli->ctx->perm, "results of the generated C (%s); above: simulated on oneDNN",
                     cli->driver->machine->name),
        "1 - cosine", "noise", "argmax");
    for (int i = 0; i < r->n; i++) {
        const char *name = str_safe(&cli->ctx->perm, r->module->main->result_names[i], 60);
        double loss[LOSS_COUNT];
        cJSON *row = list ? cJSON_CreateObject() : NULL;

        loss_of_sums(&r->sums[i], loss);
        say(cli, "%-61s %10.3g %10.3g %4lld/%lld\n", name, loss[LOSS_COS], loss[LOSS_SNR],
            (long long)r->same[i], (long long)r->n_samples);
        if (!row)
            continue;
        cJSON_AddItemToArray(list, row);
        cJSON_AddStringToObject(row, "name", name);
        cJSON_AddNumberToObject(row, loss_name(LOSS_COS), loss[LOSS_COS]);
        cJSON_AddNumberToObject(row, loss_name(LOSS_SNR), loss[LOSS_SNR]);
        cJSON_AddNumberToObject(row, "same_argmax", (double)r->same[i]);
    }
}

bool command_compare(struct cli *cli)
{
    static const char *const executors[] = { "generated", "engine", NULL };
    struct compared both = { NULL, NULL };
    struct realised realised = { .module = NULL };
    struct comparison comparison;
    int with;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = option_word(cli->ctx, &cli->driver->args, OPTION_WITH, executors, 0, &with);
    ok = prepare_machine(cli->driver) && ok;
    if (!prepare_offload(cli->driver) || !ok)
        return false;
    if (!precision_wanted(cli->driver)) {
        diag_error(cli->ctx, DIAG_USAGE, NULL, "'relayc compare' needs --precision, or --qtable");
        diag_help(cli->ctx, "for example --precision fp8; docs/guide/quantize.md lists them");
        return false;
    }
    ok = load_both(cli, &both) && (with || realise(cli, &realised)) &&
         compare(cli, &both, &comparison, with ? NULL : &realised) && write_logs(cli, &comparison);
    if (ok)
        show(cli, &comparison);
    if (ok && !with)
        show_realised(cli, &realised);
    host_code_free(&realised.code);
    module_free(realised.module);
    module_free(both.reference);
    module_free(both.quantized);
    return ok;
}
