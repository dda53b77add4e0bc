/* cmd_calibrate.c - runs a network on data and writes what its tensors hold. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "frontend/tensors/samples.h"
#include "quantize/calib_zeros.h"
#include "quantize/calibrate.h"
#include "relay_ir/products.h"

enum table_form { FORM_JSON, FORM_TPU_MLIR };

struct request {
    const char *data, *output;
    struct preprocessing how;
    bool has_how;
    long long limit, threads; /* 0 = all */
    double percent;
    int form; /* enum table_form */
    struct threshold_method column;
};

/* --- what is asked for ------------------------------------------------------------------------ */

static bool check_given(struct cli *cli, enum option_id option, const char *what, const char **out)
{
    *out = option_text(&cli->driver->args, option, NULL);
    return *out || diag_error(cli->ctx, DIAG_USAGE, NULL, "'relayc calibrate' needs %s", what);
}

static bool check_column(struct cli *cli, struct request *r)
{
    const char *text = option_text(&cli->driver->args, OPTION_THRESHOLD, "kl");

    if (has_option(&cli->driver->args, OPTION_THRESHOLD) && r->form == FORM_JSON) {
        diag_error(cli->ctx, DIAG_USAGE, NULL, "--threshold is for --format=tpu-mlir");
        diag_help(cli->ctx, "a JSON table holds the thresholds of all methods");
        return false;
    }
    /* "percentile" alone is that of --percentile. */
    if (strcmp(text, "percentile") == 0)
        text = arena_printf(&cli->ctx->perm, "percentile:%.10g", r->percent);
    if (threshold_method_parse(text, &r->column))
        return true;
    diag_error(cli->ctx, DIAG_USAGE, NULL, "--threshold: unknown method '%s'",
               str_safe(&cli->ctx->perm, text, 80));
    diag_help(cli->ctx, "methods are max, percentile:P, kl, mse:int8 and mse:f8e4m3 (or another "
                        "minifloat of 8 bits)");
    return false;
}

static bool parse_request(struct cli *cli, struct request *r)
{
    static const char *const forms[] = { "json", "tpu-mlir", NULL };
    const struct arguments *args = &cli->driver->args;
    const char *spec = option_text(args, OPTION_PREPROCESS, NULL);
    bool ok = check_given(cli, OPTION_DATA, "--data", &r->data);

    ok &= check_given(cli, OPTION_OUTPUT, "-o FILE", &r->output);
    ok &= option_integer(cli->ctx, args, OPTION_LIMIT, 0, &r->limit);
    ok &= option_integer(cli->ctx, args, OPTION_THREADS, 0, &r->threads);
    ok &= option_real(cli->ctx, args, OPTION_PERCENTILE, 99.99, &r->percent);
    ok &= option_word(cli->ctx, args, OPTION_FORMAT, forms, FORM_JSON, &r->form);
    if (!(r->percent > 0 && r->percent <= 100))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--percentile: %g is not in 0 .. 100",
                        r->percent);
    ok = ok && check_column(cli, r);
    r->has_how = spec != NULL;
    return (!spec || preprocessing_read(cli->ctx, spec, &r->how)) && ok;
}

static void show_progress(void *user, int64_t done, int64_t n)
{
    progress_show(user, "calibrating", done, n);
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
static int choose_methods(struct cli *cli, const struct request *r, struct threshold_method **out)
{
    if (r->form == FORM_JSON)
        return threshold_methods(&cli->ctx->perm, r->percent, out);
    *out = arena_memdup(&cli->ctx->perm, &r->column, sizeof r->column);
    return 1;
}

static bool run_calibration(struct cli *cli, struct function *fn, const struct request *r,
                            struct calib_table *table)
{
    struct samples *samples = samples_open(cli->ctx, r->data, fn, r->has_how ? &r->how : NULL);
    struct progress progress = progress_begin(cli);
    struct calibration_source source = { .load = load, .user = samples };
    struct calibration_options options = { .n_threads = count_threads(r),
                                           .progress = show_progress,
                                           .user = &progress };
    struct threshold_method *methods;
    bool ok;

    if (!samples)
        return false;
    source.n = samples_count(samples);
    if (r->limit > 0 && r->limit < source.n)
        source.n = r->limit;
    options.n_methods = choose_methods(cli, r, &methods);
    options.methods = methods;
    ok = calibrate(cli->ctx, fn, &source, &options, table);
    progress_end(&progress);
    samples_close(samples);
    return ok;
}

static void warn_non_finite(struct cli *cli, const struct calib_table *table)
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
        diag_warn(cli->ctx, DIAG_CALIB_TABLE, NULL,
                  "ignored infinities or NaN in %d tensor%s, first in '%s'", n, str_plural(n),
                  str_safe(&cli->ctx->perm, first->name, 200));
}

static bool write_table(struct cli *cli, const struct request *r, const struct calib_table *table)
{
    struct writer *writer = output_open(cli->outputs, r->output);

    if (r->form == FORM_TPU_MLIR)
        calib_write_text(writer, table, r->column.name);
    else
        calib_write_json(writer, table);
    return output_finish(cli->outputs);
}

static void report(struct cli *cli, const struct request *r, const struct calib_table *table)
{
    say(cli, "%s: %d tensor%s, %lld sample%s\n", str_safe(&cli->ctx->perm, r->output, 4096),
        table->n, str_plural(table->n), (long long)table->n_samples, str_plural(table->n_samples));
    if (!cli->json)
        return;
    cJSON_AddStringToObject(cli->json, "output", str_safe(&cli->ctx->perm, r->output, 4096));
    cJSON_AddNumberToObject(cli->json, "tensors", table->n);
    cJSON_AddNumberToObject(cli->json, "samples", (double)table->n_samples);
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
static bool calibrate_unrolled(struct cli *cli, const struct request *r, int kept,
                               struct calib_table *table)
{
    struct module *module = kept ? load_model(cli->driver) : NULL;
    struct calib_table more = { .n = 0 };
    bool ok = !kept ||
              (module && simplify_floats(cli->driver, module, false) &&
               (count_recurrent(module) == kept || run_calibration(cli, module->main, r, &more)));

    if (ok)
        merge_tables(cli->ctx, table, &more);
    module_free(module);
    return ok;
}

bool command_calibrate(struct cli *cli)
{
    struct request request = { .data = NULL };
    struct calib_table table;
    struct module *module;
    bool ok;

    if (!parse_request(cli, &request))
        return false;
    module = load_model(cli->driver);
    ok = module && simplify_floats(cli->driver, module, true) &&
         check_no_regions(cli->driver, module, "relayc calibrate") &&
         run_calibration(cli, module->main, &request, &table) &&
         calibrate_unrolled(cli, &request, count_recurrent(module), &table);
    if (ok) {
        const char *path = cli->driver->args.operands[0], *slash = strrchr(path, '/');

        table.model = slash ? slash + 1 : path;
        warn_non_finite(cli, &table);
        calib_warn_zeros(cli->ctx, &table);
        ok = write_table(cli, &request, &table);
    }
    if (ok)
        report(cli, &request, &table);
    module_free(module);
    return ok;
}
