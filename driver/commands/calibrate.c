/* calibrate.c - see calibrate.h. */
#include "driver/commands/calibrate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/split.h"
#include "frontend/tensors/samples.h"
#include "quantize/calib_zeros.h"
#include "quantize/calibrate.h"
#include "relay_ir/products.h"

enum table_form { FORM_JSON, FORM_TPU_MLIR };

struct request {
    const char *data, *output;
    struct split split; /* of data */
    struct preprocessing how;
    bool has_how;
    long long limit, threads; /* 0 = all */
    double percent;
    int form; /* enum table_form */
    struct threshold_method column;
};

/* --- what is asked for ------------------------------------------------------------------------ */

static bool check_given(struct driver_state *driver, enum option_id option, const char *what,
                        const char **out)
{
    *out = option_text(&driver->args, option, NULL);
    return *out || diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc calibrate' needs %s", what);
}

static bool check_column(struct driver_state *driver, struct request *r)
{
    const char *text = option_text(&driver->args, OPTION_THRESHOLD, "kl");

    if (has_option(&driver->args, OPTION_THRESHOLD) && r->form == FORM_JSON) {
        diag_error(driver->ctx, DIAG_USAGE, NULL, "--threshold is for --format=tpu-mlir");
        diag_help(driver->ctx, "a JSON table holds the thresholds of all methods");
        return false;
    }
    /* "percentile" alone is that of --percentile. */
    if (strcmp(text, "percentile") == 0)
        text = arena_printf(&driver->ctx->perm, "percentile:%.10g", r->percent);
    if (threshold_method_parse(text, &r->column))
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--threshold: unknown method '%s'",
               str_safe(&driver->ctx->perm, text, 80));
    diag_help(driver->ctx, "methods are max, percentile:P, kl, mse:int8 and mse:f8e4m3 (or another "
                           "minifloat of 8 bits)");
    return false;
}

static bool parse_request(struct driver_state *driver, struct request *r)
{
    static const char *const forms[] = { "json", "tpu-mlir", NULL };
    const struct arguments *args = &driver->args;
    const char *spec = option_text(args, OPTION_PREPROCESS, NULL);
    bool ok = check_given(driver, OPTION_DATA, "--data", &r->data);

    ok &= check_given(driver, OPTION_OUTPUT, "-o FILE", &r->output);
    ok &= option_integer(driver->ctx, args, OPTION_LIMIT, 0, &r->limit);
    ok &= option_integer(driver->ctx, args, OPTION_THREADS, 0, &r->threads);
    ok &= split_parse(driver, &r->split);
    ok &= option_real(driver->ctx, args, OPTION_PERCENTILE, 99.99, &r->percent);
    ok &= option_word(driver->ctx, args, OPTION_FORMAT, forms, FORM_JSON, &r->form);
    if (!(r->percent > 0 && r->percent <= 100))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--percentile: %g is not in 0 .. 100",
                        r->percent);
    ok = ok && check_column(driver, r);
    r->has_how = spec != NULL;
    return (!spec || preprocessing_read(driver->ctx, spec, &r->how)) && ok;
}

static void show_progress(void *user, int64_t done, int64_t n)
{
    driver_progress(user, "calibrating", done, n);
}

/* --- work ------------------------------------------------------------------------------------- */

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    return samples_load(user, ctx, bulk, index, inputs);
}

static int count_threads(const struct request *r)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const long long wanted = r->threads > 0 ? r->threads : cores > 0 ? cores : 1;

    return wanted < 1024 ? (int)wanted : 1024;
}

/* All methods; of a text table, the one that it shows. */
static int choose_methods(struct driver_state *driver, const struct request *r,
                          struct threshold_method **out)
{
    if (r->form == FORM_JSON)
        return threshold_methods(&driver->ctx->perm, r->percent, out);
    *out = arena_memdup(&driver->ctx->perm, &r->column, sizeof r->column);
    return 1;
}

static bool run_calibration(struct driver_state *driver, struct function *fn,
                            const struct request *r, struct calib_table *table)
{
    struct samples *samples =
        split_open(driver->ctx, &r->split, r->data, fn, r->has_how ? &r->how : NULL);
    struct calibration_source source = { .load = load, .user = samples };
    struct calibration_options options = { .n_threads = count_threads(r),
                                           .progress = show_progress,
                                           .user = driver };
    struct threshold_method *methods;
    bool ok;

    if (!samples)
        return false;
    driver_progress(driver, "calibrating", 0, 1);
    source.n = samples_count(samples);
    if (r->limit > 0 && r->limit < source.n)
        source.n = r->limit;
    options.n_methods = choose_methods(driver, r, &methods);
    options.methods = methods;
    ok = calibrate(driver->ctx, fn, &source, &options, table);
    driver_progress(driver, "calibrating", 0, 0);
    samples_close(samples);
    return ok;
}

static void warn_non_finite(struct driver_state *driver, const struct calib_table *table)
{
    const struct calib_tensor *first = NULL;
    int n = 0;

    for (int i = 0; i < table->n; i++) {
        if (!table->at[i].non_finite)
            continue;
        first = first ? first : &table->at[i];
        n++;
    }
    if (first)
        diag_warn(driver->ctx, DIAG_CALIB_TABLE, NULL,
                  "ignored infinities or NaN in %d tensor%s, first in '%s'", n, str_plural(n),
                  str_safe(&driver->ctx->perm, first->name, 200));
}

static bool write_table(struct driver_state *driver, const struct request *r,
                        const struct calib_table *table)
{
    struct writer *writer = output_open(driver->outputs, r->output);

    if (r->form == FORM_TPU_MLIR)
        calib_write_text(writer, table, r->column.name);
    else
        calib_write_json(writer, table);
    return output_finish(driver->outputs);
}

static int count_recurrent(const struct module *module)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += is_recurrent(node->op);
    return n;
}

/* Adds the tensors of `more` whose names the table does not have. */
static void merge_tables(struct ctx *ctx, struct calib_table *table, const struct calib_table *more)
{
    struct calib_tensor *at = arena_array(&ctx->perm, struct calib_tensor, table->n + more->n);
    int n = table->n;

    memcpy(at, table->at, (size_t)table->n * sizeof *at);
    for (int i = 0; i < more->n; i++)
        if (!calib_find(table, more->at[i].name))
            at[n++] = more->at[i];
    table->at = at;
    table->n = n;
}

/* int8 keeps recurrent layers of one step, which other precisions have as products and gates: one
 * table serves both. `kept`: how many layers the module of the table has. */
static bool calibrate_unrolled(struct driver_state *driver, const struct request *r, int kept,
                               struct calib_table *table)
{
    struct module *module = kept ? load_model(driver) : NULL;
    struct calib_table more = { .n = 0 };
    bool ok =
        !kept ||
        (module && simplify_floats(driver, module, false) &&
         (count_recurrent(module) == kept || run_calibration(driver, module->main, r, &more)));

    if (ok)
        merge_tables(driver->ctx, table, &more);
    module_free(module);
    return ok;
}

bool driver_calibrate(struct driver_state *driver, struct calibration *out)
{
    struct request request = { .data = NULL };
    struct calib_table *table = &out->table;
    struct module *module = NULL;
    bool ok;

    *out = (struct calibration){ .output = NULL };
    ok = parse_request(driver, &request) &&                        /* all options */
         (module = load_model(driver)) &&                          /* the model */
         simplify_floats(driver, module, true) &&                  /* the passes up to quantise */
         check_no_regions(driver, module, "relayc calibrate") &&   /* of a JSON graph */
         run_calibration(driver, module->main, &request, table) && /* on --data */
         calibrate_unrolled(driver, &request, count_recurrent(module), table); /* for fp8 */
    if (ok) {
        const char *path = driver->args.operands[0], *slash = strrchr(path, '/');

        table->model = slash ? slash + 1 : path;
        out->output = request.output;
        warn_non_finite(driver, table);
        calib_warn_zeros(driver->ctx, table);
        ok = write_table(driver, &request, table);
    }
    module_free(module);
    return ok;
}
