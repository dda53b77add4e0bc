#include "bench/accuracy/measure.h"

#include <stdio.h>
#include <time.h>

#include "driver/driver.h"
#include "quantize/batch_norms.h"

/* Processor time: others may be using the machine. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The model before quantisation; *norms, unless NULL, of what it was before. NULL after errors. */
static struct module *prepare(const struct subject *subject, struct ctx *ctx,
                              struct batch_norms **norms)
{
    struct driver_state driver = driver_begin(ctx, COMMAND_EVAL);
    struct module *module;

    driver.args.operands[0] = subject->path;
    module = load_model(&driver);
    if (!module)
        return NULL;
    if (norms)
        *norms = batch_norms_collect(ctx, module);
    if (simplify_floats(&driver, module, false))
        return module;
    module_free(module);
    return NULL;
}

static bool fuse(struct module *module)
{
    const struct driver_state driver = driver_begin(module->ctx, COMMAND_EVAL);

    return fuse_floats(&driver, module);
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
    struct module *module;
    bool ok;

    *subject = (struct subject){ .network = network, .ctx = ctx_new(NULL), .n_threads = n_threads };
    subject->path =
        arena_printf(&subject->ctx->perm, "%s/models/%s/model.onnx", shared, network->name);
    subject->ctx->diags.input_name = subject->path;
    module = prepare(subject, subject->ctx, NULL);
    ok = module && (module->main->n_params == 1 ||
                    diag_error(subject->ctx, DIAG_INPUT_MISMATCH, NULL,
                               "the network has %d inputs, wanted is 1", module->main->n_params));
    ok = ok && dataset_load(subject->ctx, shared, network, &module->main->params[0]->type, limit,
                            n_threads, dataset);
    ok = ok && make_table(subject, module->main);
    if (ok)
        subject->weight_bytes = weight_bytes(module);
    ok = ok && fuse(module) &&
         evaluate(subject->ctx, module->main, dataset,
                  dataset->n_reference ? dataset->n_reference : dataset->n_tested, n_threads,
                  &subject->f32);
    module_free(module);
    return ok;
}

void subject_close(struct subject *subject)
{
    dataset_free(&subject->dataset);
    ctx_free(subject->ctx);
}

static struct module *quantize(const struct subject *subject, const struct config *config,
                               bool realised, struct ctx *ctx, struct quantize_report *report)
{
    const struct pipeline_options pipeline = { .log = stderr };
    const struct calibration_source source = dataset_calibration(&subject->dataset);
    /* equalisation moves what was calibrated */
    struct quantize_options options = { .calib = config->equalize ? NULL : &subject->table,
                                        .samples = &source,
                                        .n_threads = subject->n_threads,
                                        .simulate_only = !realised };
    struct batch_norms *norms;
    struct module *module;

    if (!config_apply(ctx, config, &options))
        return NULL;
    module = prepare(subject, ctx, &norms);
    options.batch_norms = norms;
    if (module && quantize_module(module, &options, &pipeline, report) && fuse(module))
        return module;
    module_free(module);
    return NULL;
}

bool measure(const struct subject *subject, const struct config *config, enum judge judge,
             struct ctx *ctx, struct measured *out)
{
    const double start = now();
    struct module *module = quantize(subject, config, judge != JUDGE_SIMULATION, ctx, &out->report);
    bool ok;

    out->seconds = now() - start;
    ok = module && (judge == JUDGE_GENERATED
                        ? evaluate_generated(ctx, module, &subject->dataset,
                                             subject->dataset.n_tested, &out->score)
                        : evaluate(ctx, module->main, &subject->dataset, subject->dataset.n_tested,
                                   subject->n_threads, &out->score));
    module_free(module);
    return ok;
}
