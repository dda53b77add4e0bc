#include "bench/accuracy/measure.h"

#include <stdio.h>
#include <time.h>

#include "driver/precision.h"

/* Processor time: others may be using the machine. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A state of the driver for the subject's model. False after errors. */
static bool begin(struct driver_state *driver, const struct subject *subject, const char *precision,
                  struct ctx *ctx)
{
    *driver = driver_begin(ctx, COMMAND_EVAL);
    driver->args.operands[0] = subject->path;
    driver_give(driver, OPTION_PRECISION, precision);
    driver_give(driver, OPTION_NO_DATA_FREE, "");
    return prepare_offload(driver);
}

/* With the module, or without. */
static void end(struct driver_state *driver, bool keep_module)
{
    driver_free(driver);
    if (keep_module)
        return;
    module_free(driver->module);
    driver->module = NULL;
}

static size_t weight_bytes(const struct module *module)
{
    size_t bytes = 0;

    for (const struct value *v = module->main->constants; v; v = v->next)
        bytes += type_packed_bytes(&v->type);
    return bytes;
}

static bool make_table(struct subject *subject, struct function *fn)
{
    const struct calibration_source source = dataset_calibration(&subject->dataset);
    struct threshold_method *methods;
    struct calibration_options options = { .n_threads = subject->n_threads };

    options.n_methods = threshold_methods(&subject->ctx->perm, 99.99, &methods);
    options.methods = methods;
    return calibrate(subject->ctx, fn, &source, &options, &subject->table);
}

bool subject_open(struct subject *subject, const char *shared, const struct network *network,
                  int64_t limit, int n_threads)
{
    struct dataset *dataset = &subject->dataset;
    struct driver_state driver;
    const struct function *fn;
    bool ok;

    *subject = (struct subject){ .network = network, .ctx = ctx_new(NULL), .n_threads = n_threads };
    subject->path =
        arena_printf(&subject->ctx->perm, "%s/models/%s/model.onnx", shared, network->name);
    subject->ctx->diags.input_name = subject->path;
    ok = begin(&driver, subject, "f32", subject->ctx) && driver_run(&driver, STAGE_SIMPLIFY);
    fn = ok ? driver.module->main : NULL;
    ok = ok &&
         (fn->n_params == 1 || diag_error(subject->ctx, DIAG_INPUT_MISMATCH, NULL,
                                          "the network has %d inputs, wanted is 1", fn->n_params));
    ok = ok && dataset_load(subject->ctx, shared, network, &fn->params[0]->type, limit, n_threads,
                            dataset);
    ok = ok && make_table(subject, driver.module->main);
    if (ok)
        subject->weight_bytes = weight_bytes(driver.module);
    ok = ok && driver_run(&driver, STAGE_FUSE) &&
         evaluate(subject->ctx, driver.module->main, dataset,
                  dataset->n_reference ? dataset->n_reference : dataset->n_tested, n_threads,
                  &subject->f32);
    end(&driver, false);
    return ok;
}

void subject_close(struct subject *subject)
{
    dataset_free(&subject->dataset);
    ctx_free(subject->ctx);
}

/* The samples are in memory: what compile reads from files of --data and --calib is set here. */
static bool apply(struct driver_state *driver, const struct subject *subject,
                  const struct config *config, const struct calibration_source *source)
{
    struct quantize_options *options = &driver->precision->options;

    driver->precision->stand_in = source;
    /* equalisation moves what was calibrated */
    options->calib = config->equalize ? NULL : &subject->table;
    options->n_threads = subject->n_threads;
    return config_apply(driver->ctx, config, options);
}

static struct module *quantize(const struct subject *subject, const struct config *config,
                               bool realised, struct ctx *ctx, struct quantize_report *report)
{
    const struct calibration_source source = dataset_calibration(&subject->dataset);
    struct driver_state driver;
    bool ok =
        begin(&driver, subject, config->precision, ctx) && apply(&driver, subject, config, &source);

    if (ok && !realised)
        simulate_precision(&driver);
    ok = ok && driver_run(&driver, STAGE_SIMPLIFY);
    *report =
        (struct quantize_report){ .weight_bytes_after = ok ? weight_bytes(driver.module) : 0 };
    ok = ok && driver_run(&driver, STAGE_FUSE);
    if (ok && precision_wanted(&driver))
        *report = driver.precision->report;
    end(&driver, ok);
    return driver.module;
}

bool measure(const struct subject *subject, const struct config *config, enum judge judge,
             struct ctx *ctx, struct measured *out)
{
    const double start = now();
    struct module *module = quantize(subject, config, judge != JUDGE_SIMULATION, ctx, &out->report);
    bool ok;

    out->seconds = now() - start;
    ok = module &&
         (judge == JUDGE_GENERATED
              ? evaluate_generated(ctx, module, &subject->dataset, subject->dataset.n_tested,
                                   subject->n_threads, &out->score)
              : evaluate(ctx, module->main, &subject->dataset, subject->dataset.n_tested,
                         subject->n_threads, &out->score));
    module_free(module);
    return ok;
}
