/* compare.c - see compare.h. */
#include "driver/commands/compare.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "frontend/tensors/samples.h"
#include "quantize/calibrate.h"
#include "runtime/engine/engine.h"

static bool load_both(struct precision_cost *c)
{
    c->reference = load_model(c->driver);
    c->quantized = c->reference ? load_model(c->driver) : NULL;
    return c->quantized != NULL;
}

/* Both graphs up to quantisation, and one of them fake-quantised. */
static bool simulate_quantised(struct precision_cost *c)
{
    struct driver_state *driver = c->driver;
    const bool keep = precision_keeps_recurrent(driver);

    collect_for_precision(driver, c->quantized);
    simulate_precision(driver);
    driver->module = c->quantized;
    return simplify_floats(driver, c->reference, keep) &&
           simplify_floats(driver, c->quantized, keep) && stage_quantize(driver);
}

/* --- data: --data, or --input, or random numbers ---------------------------------------------- */

static bool load_given(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                       struct tensor *inputs)
{
    const struct precision_cost *c = user;

    (void)ctx;
    (void)bulk;
    (void)index;
    memcpy(inputs, c->inputs, (size_t)c->reference->main->n_params * sizeof *inputs);
    return true;
}

static bool load_sample(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    return samples_load(user, ctx, bulk, index, inputs);
}

/* --- the generated C -------------------------------------------------------------------------- */

static bool realise(struct precision_cost *c)
{
    struct driver_state *driver = c->driver;
    struct realised *r = &c->realised;

    if (!c->with_code)
        return true;
    realise_precision(driver);
    r->module = load_model(driver);
    if (!r->module || !run_passes(driver, r->module))
        return false;
    function_number(r->module->main);
    r->n = r->module->main->ret->n_inputs;
    r->sums = arena_array(&driver->ctx->perm, struct loss_sums, r->n);
    r->same = arena_array(&driver->ctx->perm, int64_t, r->n);
    return host_code_build(driver, r->module, false, &r->code);
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

static bool realised_sample(struct driver_state *driver, struct realised *r, struct engine *engine,
                            const struct calibration_source *source, int64_t sample)
{
    const struct function *fn = r->module->main;
    struct arena *scratch = &driver->ctx->scratch;
    struct tensor *inputs = arena_array(scratch, struct tensor, fn->n_params);
    struct tensor *wanted = arena_array(scratch, struct tensor, r->n);
    struct tensor *found = arena_array(scratch, struct tensor, r->n);
    struct bulk bulk = { 0 };
    bool ok = source->load(source->user, driver->ctx, &bulk, sample, inputs) &&
              engine_run(engine, inputs, wanted, &bulk, NULL) && fit_inputs(driver, fn, inputs) &&
              generated_run(r->code.generated, inputs, found, &bulk);

    for (int i = 0; i < r->n && ok; i++)
        add_result(r, i, &wanted[i], &found[i]);
    r->n_samples += ok;
    bulk_release(&bulk);
    return ok;
}

static bool run_realised(struct precision_cost *c)
{
    struct engine *engine;
    bool ok;

    if (!c->with_code)
        return true;
    engine = engine_new(c->driver->ctx, c->reference->main);
    ok = engine != NULL;
    for (int64_t i = 0; i < c->source.n && ok; i++)
        ok = realised_sample(c->driver, &c->realised, engine, &c->source, i);
    engine_free(engine);
    return ok;
}

/* --- both ------------------------------------------------------------------------------------- */

static bool open_inputs(struct precision_cost *c)
{
    struct driver_state *driver = c->driver;
    const struct function *fn = c->reference->main;
    const bool on_data =
        has_option(&driver->args, OPTION_DATA) && !has_option(&driver->args, OPTION_INPUT);

    c->source = (struct calibration_source){ .n = 1, .load = load_given, .user = c };
    if (!on_data)
        return load_inputs(driver, fn, &c->inputs);
    c->samples = open_samples(driver, fn, &c->source.n);
    c->source.load = load_sample;
    c->source.user = c->samples;
    return c->samples != NULL;
}

static bool compare_layers(struct precision_cost *c)
{
    return compare_modules(c->driver->ctx, c->reference, c->quantized, &c->source, &c->comparison);
}

/* "precision_compare.log" -> "precision_compare.json" */
static const char *json_path(struct driver_state *driver, const char *log)
{
    const size_t n = strlen(log);

    return arena_printf(&driver->ctx->perm, "%.*s.json",
                        (int)(n > 4 && strcmp(log + n - 4, ".log") == 0 ? n - 4 : n), log);
}

static bool write_logs(struct precision_cost *c)
{
    struct driver_state *driver = c->driver;

    c->comparison.random =
        !has_option(&driver->args, OPTION_DATA) && !has_option(&driver->args, OPTION_INPUT);
    c->log = option_text(&driver->args, OPTION_OUTPUT, "precision_compare.log");
    c->json = json_path(driver, c->log);
    compare_write_text(output_open(driver->outputs, c->log), &c->comparison);
    compare_write_json(output_open(driver->outputs, c->json), &c->comparison);
    return output_finish(driver->outputs);
}

/* --- the command ------------------------------------------------------------------------------ */

static bool check_options(struct precision_cost *c)
{
    static const char *const executors[] = { "generated", "engine", NULL };
    struct driver_state *driver = c->driver;
    int with;
    bool ok = option_word(driver->ctx, &driver->args, OPTION_WITH, executors, 0, &with);

    c->with_code = with == 0;
    ok = prepare_machine(driver) && ok;
    if (!prepare_offload(driver) || !ok)
        return false;
    if (precision_wanted(driver))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc compare' needs --precision, or --qtable");
    diag_help(driver->ctx, "for example --precision fp8; docs/guide/quantize.md lists them");
    return false;
}

bool driver_compare(struct driver_state *driver, struct precision_cost *out)
{
    static bool (*const stages[])(struct precision_cost *) = {
        check_options,      /* all options */
        load_both,          /* the model, twice */
        simulate_quantised, /* simplify, quantise: for oneDNN */
        realise,            /* all stages: C, built for this machine */
        open_inputs,        /* --data, --input, or random numbers */
        compare_layers,     /* both graphs on the engine */
        run_realised,       /* the float model and the C */
        write_logs,         /* -o */
    };
    bool ok = true;

    *out = (struct precision_cost){ .driver = driver };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    samples_close(out->samples);
    out->samples = NULL;
    return ok;
}

void driver_compare_free(struct precision_cost *cost)
{
    host_code_free(&cost->realised.code);
    module_free(cost->realised.module);
    module_free(cost->reference);
    module_free(cost->quantized);
}
