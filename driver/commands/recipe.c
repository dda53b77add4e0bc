#include "driver/commands/recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/precision.h"
#include "eval/run.h"
#include "quantize/workers.h"

/* --- options ---------------------------------------------------------------------------------- */

/* Samples and their use differ between the commands. */
static const enum option_id apart[] = { OPTION_DATA,   OPTION_LIMIT,      OPTION_SAMPLES,
                                        OPTION_SPLIT,  OPTION_PREPROCESS, OPTION_OUTPUT_DIR,
                                        OPTION_CONFIG, OPTION_JSON,       OPTION_QUIET,
                                        OPTION_COLOR,  OPTION_THREADS,    OPTION_LATENCY_LOG };

static bool is_shared(const struct driver_state *driver, enum option_id option)
{
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (apart[i] == option)
            return false;
    return has_option(&driver->args, option) && (option_rows[option].commands & C_COMPILE);
}

static bool calibrates_apart(const struct driver_state *driver)
{
    return has_option(&driver->args, OPTION_CALIB_DATA);
}

static const char *calibration_data(const struct driver_state *driver)
{
    return option_text(&driver->args, calibrates_apart(driver) ? OPTION_CALIB_DATA : OPTION_DATA,
                       "");
}

const char *recipe_shared_options(const struct driver_state *driver)
{
    struct str text = { .arena = &driver->ctx->perm };

    for (int o = 0; o < OPTION_COUNT; o++) {
        const struct option_values *values = &driver->args.options[o];

        for (int i = 0; i < values->n && is_shared(driver, (enum option_id)o); i++)
            str_printf(&text, " --%s%s%s", option_name((enum option_id)o),
                       *values->at[i] ? " " : "", for_shell(driver, values->at[i]));
    }
    return str_text(&text);
}

static void add_option(const struct driver_state *driver, struct str *text, enum option_id option)
{
    if (has_option(&driver->args, option))
        str_printf(text, " --%s %s", option_name(option),
                   for_shell(driver, option_text(&driver->args, option, "")));
}

const char *recipe_command(const struct recipes *all, const struct recipe *recipe)
{
    const struct driver_state *driver = all->driver;
    struct str text = { .arena = &driver->ctx->perm };

    str_printf(&text, "relayc compile %s%s --precision %s",
               for_shell(driver, driver->args.operands[0]), recipe_shared_options(driver),
               for_shell(driver, recipe->precision));
    for (int i = 0; i < recipe->n_options; i++)
        str_printf(&text, " --%s %s", option_name(recipe->options[i].option),
                   recipe->options[i].value);
    str_printf(&text, " --data %s", for_shell(driver, calibration_data(driver)));
    add_option(driver, &text, OPTION_PREPROCESS);
    if (!calibrates_apart(driver)) {
        str_add(&text, " --samples calibration");
        add_option(driver, &text, OPTION_SPLIT);
    }
    str_printf(&text, " --limit %s", option_text(&driver->args, OPTION_CALIB_LIMIT, "128"));
    return str_text(&text);
}

static void give_samples(const struct driver_state *driver, struct driver_state *own)
{
    const bool is_eval = own->args.command == COMMAND_EVAL;

    driver_give(own, is_eval ? OPTION_CALIB_DATA : OPTION_DATA, calibration_data(driver));
    driver_give(own, is_eval ? OPTION_CALIB_LIMIT : OPTION_LIMIT,
                option_text(&driver->args, OPTION_CALIB_LIMIT, "128"));
    if (is_eval)
        driver_give(own, OPTION_DATA, option_text(&driver->args, OPTION_DATA, ""));
    if (has_option(&driver->args, OPTION_PREPROCESS))
        driver_give(own, OPTION_PREPROCESS, option_text(&driver->args, OPTION_PREPROCESS, ""));
    if (calibrates_apart(driver))
        return;
    driver_give(own, OPTION_SAMPLES, split_part_name(is_eval ? SPLIT_REPORT : SPLIT_CALIBRATION));
    if (has_option(&driver->args, OPTION_SPLIT))
        driver_give(own, OPTION_SPLIT, option_text(&driver->args, OPTION_SPLIT, ""));
}

struct driver_state recipe_driver(const struct recipes *all, const struct recipe *recipe,
                                  struct ctx *ctx, enum command command)
{
    const struct driver_state *driver = all->driver;
    struct driver_state own = driver_begin(ctx, command);

    own.args.operands = driver->args.operands;
    for (int o = 0; o < OPTION_COUNT; o++)
        if (is_shared(driver, (enum option_id)o))
            own.args.options[o] = driver->args.options[o];
    if (has_option(&driver->args, OPTION_THREADS))
        driver_give(&own, OPTION_THREADS, option_text(&driver->args, OPTION_THREADS, ""));
    if (!recipe)
        return own;
    driver_give(&own, OPTION_PRECISION, recipe->precision);
    for (int i = 0; i < recipe->n_options; i++)
        driver_give(&own, recipe->options[i].option, recipe->options[i].value);
    give_samples(driver, &own);
    return own;
}

bool recipe_describe(const struct recipes *all, struct recipe *recipe)
{
    struct ctx *ctx = all->driver->ctx;
    struct str text = { .arena = &ctx->perm };
    struct precision p;

    if (!precision_parse(ctx, "--choices", recipe->precision, &p))
        return false;
    recipe->has_small_data = p.has_data;
    recipe->sums_integers = p.mode == PRECISION_INT8;
    recipe->has_narrow_weights = p.has_weights && !p.has_data && number_format_bits(&p.weights) < 8;
    str_add(&text, recipe->precision);
    for (int i = 0; i < recipe->n_options; i++)
        str_printf(&text, " --%s %s", option_name(recipe->options[i].option),
                   recipe->options[i].value);
    recipe->text = str_text(&text);
    return true;
}

/* --- making ----------------------------------------------------------------------------------- */

static void show_progress(void *user, const char *what, int64_t done, int64_t n)
{
    struct recipe *recipe = user;
    const struct recipes *all = recipe->all;

    snprintf(recipe->doing, sizeof recipe->doing, "[%d/%d] %s: %s", all->n_made, all->n,
             recipe->text, what);
    driver_progress(all->driver, recipe->doing, done, n);
}

static void fail(struct recipe *recipe, const struct ctx *ctx)
{
    const struct diag *d = ctx->diags.first;

    while (d && d->severity != DIAG_ERROR)
        d = d->next;
    recipe->state = RECIPE_FAILED;
    recipe->why = arena_strdup(&recipe->all->driver->ctx->perm, d ? d->message : "no memory");
}

static void estimate_time(const struct recipes *all, struct recipe *recipe,
                          const struct codegen_result *result)
{
    bool known;

    recipe->seconds = 0;
    for (int i = 0; all->latency->n && i < result->n_regions; i++)
        recipe->seconds += latency_of(all->latency, &result->regions[i], &known);
}

static void note_sizes(const struct recipes *all, struct recipe *recipe,
                       const struct codegen_result *result)
{
    recipe->weight_bytes = result->weight_bytes;
    recipe->arena_bytes = result->arena_bytes;
    recipe->macs = result->macs;
    estimate_time(all, recipe, result);
}

static bool prepare(struct driver_state *driver)
{
    return prepare_machine(driver) && prepare_offload(driver);
}

/* Sizes without C: of f32, and where oneDNN judges. */
static bool plan(const struct recipes *all, struct recipe *recipe, struct ctx *ctx)
{
    const bool is_f32 = strcmp(recipe->precision, "f32") == 0;
    struct driver_state driver = recipe_driver(all, is_f32 ? NULL : recipe, ctx, COMMAND_EVAL);
    struct codegen_result result;
    struct codegen_options options;
    struct module *module;
    bool ok;

    driver.events = &recipe->events;
    ok = prepare(&driver);
    module = ok ? load_model(&driver) : NULL;
    ok = module && run_passes(&driver, module);
    options = driver_codegen_options(&driver);
    options.name = "model";
    options.dir = ".";
    ok = ok && codegen_sizes(module, &options, &result);
    if (ok)
        note_sizes(all, recipe, &result);
    module_free(module);
    driver_free(&driver);
    return ok;
}

static bool plan_apart(const struct recipes *all, struct recipe *recipe)
{
    struct ctx *ctx = ctx_new(all->driver->ctx->diags.input_name);
    const bool ok = plan(all, recipe, ctx);

    if (!ok)
        fail(recipe, ctx);
    ctx_free(ctx);
    return ok;
}

static bool build_code(const struct recipes *all, struct recipe *recipe)
{
    struct driver_state *driver = &recipe->driver;

    if (!all->with_code)
        return true;
    if (!host_code_build(driver, recipe->module, false, &recipe->code))
        return false;
    note_sizes(all, recipe, &recipe->code.result);
    return true;
}

static bool quantise(const struct recipes *all, struct recipe *recipe)
{
    struct driver_state *driver = &recipe->driver;

    if (!prepare(driver))
        return false;
    recipe->module = load_model(driver);
    if (!recipe->module)
        return false;
    if (!all->with_code && precision_wanted(driver))
        simulate_precision(driver);
    return run_passes(driver, recipe->module);
}

static void begin(const struct recipes *all, struct recipe *recipe)
{
    recipe->all = all;
    recipe->ctx = ctx_new(all->driver->ctx->diags.input_name);
    recipe->events = (struct driver_events){ .progress = show_progress, .user = recipe };
    recipe->driver = recipe_driver(all, recipe, recipe->ctx, COMMAND_EVAL);
    recipe->driver.events = &recipe->events;
}

void recipe_make(const struct recipes *all, struct recipe *recipe)
{
    recipe->all = all;
    if (strcmp(recipe->precision, "f32") == 0) {
        plan_apart(all, recipe);
        return;
    }
    begin(all, recipe);
    if (!quantise(all, recipe) || !build_code(all, recipe))
        fail(recipe, recipe->ctx);
    else if (!all->with_code)
        plan_apart(all, recipe);
    if (recipe->state == RECIPE_FAILED)
        recipe_drop(recipe);
    else
        recipe->n_products = recipe->driver.precision->report.n_products;
}

void recipe_drop(struct recipe *recipe)
{
    if (!recipe->ctx)
        return;
    answers_free(recipe->answers);
    if (recipe->code.dir)
        host_code_free(&recipe->code);
    module_free(recipe->module);
    driver_free(&recipe->driver);
    ctx_free(recipe->ctx);
    recipe->ctx = NULL;
    recipe->answers = NULL;
    recipe->module = NULL;
}

/* --- judging ---------------------------------------------------------------------------------- */

size_t recipe_bytes(const struct recipe *recipe)
{
    return recipe->weight_bytes + recipe->arena_bytes;
}

double recipe_loss(enum metric metric, double change)
{
    return metric == METRIC_MSE ? change : (metric_is_share(metric) ? 100 : 1) * (0 - change);
}

static void count_samples(void *user, int64_t done, int64_t n)
{
    show_progress(user, "samples", done, n);
}

static bool run_samples(struct recipe *recipe, const struct eval_data *data,
                        struct answers *answers, int64_t first)
{
    const struct recipes *all = recipe->all;
    const struct eval_run run = { .fn = recipe->module->main,
                                  .samples = &data->source,
                                  .first = first,
                                  .n_threads = all->n_threads,
                                  .progress = count_samples,
                                  .user = recipe };
    const bool ok = all->with_code
                        ? eval_on_generated(recipe->ctx, &run, recipe->code.generated, answers)
                        : eval_on_engine(recipe->ctx, &run, answers);

    show_progress(recipe, "samples", 0, 0);
    return ok;
}

void recipe_judge(struct recipe *recipe, const struct eval_request *request,
                  const struct eval_data *data, struct answers *f32, int64_t n)
{
    const enum metric metric = request->metrics[0];
    const int64_t all = f32->n;

    if (!recipe->answers)
        recipe->answers = answers_new(&request->task, data->source.n);
    recipe->answers->n = f32->n = n;
    if (n > recipe->n && !run_samples(recipe, data, recipe->answers, recipe->n)) {
        fail(recipe, recipe->ctx);
    } else {
        recipe->n = n;
        recipe->paired = answers_compare(f32, recipe->answers, metric);
        recipe->value = answers_metric(recipe->answers, metric);
        recipe->loss = recipe_loss(metric, recipe->paired.change);
        recipe->error = recipe->paired.error * (metric_is_share(metric) ? 100 : 1);
    }
    f32->n = all;
}

struct answers *recipe_answers(struct recipe *recipe, const struct eval_request *request,
                               const struct eval_data *data)
{
    struct answers *answers = answers_new(&request->task, data->source.n);

    if (run_samples(recipe, data, answers, 0))
        return answers;
    workers_report(recipe->all->driver->ctx, recipe->ctx, recipe->text);
    answers_free(answers);
    return NULL;
}

struct answers *recipes_f32(const struct recipes *all, const struct eval_request *request,
                            const struct eval_data *data)
{
    struct driver_state *driver = all->driver;
    struct answers *answers = answers_new(&request->task, data->source.n);
    struct recipe shown = { .text = "f32", .all = all };
    struct module *module = load_model(driver);
    struct eval_run run = { .samples = &data->source,
                            .n_threads = all->n_threads,
                            .progress = count_samples,
                            .user = &shown };
    bool ok = module && simplify_floats(driver, module, false) && fuse_floats(driver, module);

    answers->is_reference = true;
    if (ok) {
        run.fn = module->main;
        ok = eval_on_engine(driver->ctx, &run, answers);
    }
    driver_progress(driver, "f32", 0, 0);
    module_free(module);
    if (ok)
        return answers;
    answers_free(answers);
    return NULL;
}
