/* precision.c - what is stored small: the stage, and what others ask of it. */
#include <pthread.h>
#include <string.h>

#include "base/file.h"
#include "driver/precision.h"
#include "quantize/batch_norms.h"

bool precision_wanted(const struct driver_state *driver)
{
    return driver->precision && quantize_wanted(&driver->precision->options);
}

/* A qtable names the products and gates that `relayc search` knows. */
bool precision_keeps_recurrent(const struct driver_state *driver)
{
    return precision_wanted(driver) &&
           driver->precision->options.precision.mode == PRECISION_INT8 &&
           !driver->precision->options.qtable;
}

/* The samples of --data, which several steps read, each all of them. */
struct reading {
    const struct driver_state *driver;
    struct samples *samples;
    int64_t n, n_read;
    pthread_mutex_t lock; /* workers read side by side */
};

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    struct reading *reading = user;

    pthread_mutex_lock(&reading->lock);
    if (reading->n_read % reading->n == 0)
        driver_progress(reading->driver, "quantising", 0, reading->n);
    reading->n_read++;
    driver_progress(reading->driver,
                    reading->n_read > reading->n ? "quantising, samples again" : "quantising",
                    (reading->n_read - 1) % reading->n + 1, reading->n);
    pthread_mutex_unlock(&reading->lock);
    return samples_load(reading->samples, ctx, bulk, index, inputs);
}

void collect_for_precision(struct driver_state *driver, const struct module *module)
{
    struct precision_request *r = driver->precision;

    if (precision_wanted(driver) && (r->options.bias == BIAS_DATA_FREE || r->options.data_free))
        r->options.batch_norms = batch_norms_collect(driver->ctx, module);
}

static bool quantize_with_log(struct driver_state *driver, struct module *module,
                              const struct pipeline_options *pipeline)
{
    struct precision_request *r = driver->precision;
    const char *log = option_text(&driver->args, OPTION_QUANTIZE_LOG, NULL);
    struct output_set set = { .ctx = driver->ctx };

    if (log) {
        r->options.log = output_open(&set, log);
        r->options.log_json = strlen(log) > 5 && strcmp(log + strlen(log) - 5, ".json") == 0;
    }
    if (!quantize_module(module, &r->options, pipeline, &r->report)) {
        output_abort(&set);
        return false;
    }
    return !log || output_commit(&set);
}

struct samples *open_samples(struct driver_state *driver, const struct function *fn, int64_t *n)
{
    const struct precision_request *r = driver->precision;
    struct samples *samples =
        r->data ? split_open(driver->ctx, &r->split, r->data, fn, r->has_how ? &r->how : NULL)
                : NULL;

    if (!samples)
        return NULL;
    *n = samples_count(samples);
    if (r->limit > 0 && r->limit < *n)
        *n = r->limit;
    return samples;
}

void simulate_precision(struct driver_state *driver)
{
    driver->precision->options.simulate_only = true;
}

void realise_precision(struct driver_state *driver)
{
    driver->precision->options.simulate_only = false;
}

/* A graph that was divided into regions (compile --emit json) shows nothing to work on. */
bool check_no_regions(struct driver_state *driver, const struct module *module, const char *what)
{
    const struct node *node = module->main->first;

    while (node && node->op != OP_CALL)
        node = node->next;
    if (!node)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL,
               "%s needs a graph without regions, and this one has some", what);
    diag_help(driver->ctx, "give the ONNX file, or give the precision to compile --emit json");
    return false;
}

bool stage_quantize(struct driver_state *driver)
{
    const struct pipeline_options pipeline = driver_pipeline_options(driver);
    struct module *module = driver->module;
    struct precision_request *r = driver->precision;
    struct calibration_source source = { .load = load };
    struct reading reading = { .driver = driver, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct samples *samples;
    int n_small;
    bool ok;

    if (!check_no_regions(driver, module, "--precision"))
        return false;
    samples = open_samples(driver, module->main, &source.n);
    if (r->data && !samples)
        return false;
    reading.samples = samples;
    reading.n = source.n;
    source.user = &reading;
    n_small = precision_count_quantized(module);
    r->options.samples = samples ? &source : r->stand_in;
    ok = quantize_with_log(driver, module, &pipeline);
    driver_progress(driver, "quantising", 0, 0);
    r->done = ok;
    if (ok) {
        precision_check_kept(driver, r);
        precision_check_quantized(driver, r, n_small);
        precision_check_loss(driver, r);
        r->numbers = precision_list_numbers(&driver->ctx->perm, module);
    }
    if (ok && !r->options.simulate_only)
        precision_check_floats(driver, r, module);
    samples_close(samples);
    return ok;
}
