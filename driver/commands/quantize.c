#include "driver/commands/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "driver/precision.h"

enum { SELECTION = 256, REPORT = 1000 };

/* --- what is asked for ------------------------------------------------------------------------ */

static int count_threads(long long wanted)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (wanted <= 0)
        wanted = cores > 0 ? cores : 1;
    return wanted < 1024 ? (int)wanted : 1024;
}

/* Scores of classes: one result, with extents of 1 around them. */
static bool has_classes(const struct function *fn)
{
    const struct type *type = &fn->ret->inputs[0]->type;
    int n_dims = 0;

    for (int i = 0; i < type->rank; i++)
        n_dims += type->dim[i] > 1;
    return fn->ret->n_inputs == 1 && dtype_is_float(type->dtype) && n_dims == 1;
}

static void choose_metric(struct quantization *q)
{
    struct driver_state *driver = q->driver;
    const struct arguments *args = &driver->args;

    if (has_option(args, OPTION_METRIC))
        return;
    driver_give(driver, OPTION_METRIC,
                !has_option(args, OPTION_LABELS)
                    ? has_classes(q->module->main) ? "agree,cos" : "cos"
                : has_option(args, OPTION_DECODE) ? "map50"
                                                  : "top1");
}

static bool parse_judging(struct quantization *q, struct judging *judging, enum split_part part,
                          long long limit)
{
    if (!eval_request_parse(q->driver, &judging->request))
        return false;
    judging->request.split.part = part;
    judging->request.limit = limit;
    return true;
}

static bool parse_limits(struct quantization *q)
{
    struct driver_state *driver = q->driver;
    struct ctx *ctx = driver->ctx;
    const struct arguments *args = &driver->args;
    long long threads;
    bool ok = option_bytes(ctx, args, OPTION_RAM, 0, &q->ram);

    ok = option_bytes(ctx, args, OPTION_FLASH, 0, &q->flash) && ok;
    ok = option_integer(ctx, args, OPTION_THREADS, 0, &threads) && ok;
    ok = option_integer(ctx, args, OPTION_CALIB_LIMIT, 128, &q->n_calibration) && ok;
    ok = option_integer(ctx, args, OPTION_SELECT_LIMIT, SELECTION, &q->n_selection) && ok;
    ok = option_integer(ctx, args, OPTION_LIMIT, REPORT, &q->n_report) && ok;
    ok = option_real(ctx, args, OPTION_MAX_LOSS, NAN, &q->most_loss) && ok;
    q->recipes.n_threads = count_threads(threads);
    return ok;
}

static bool check_options(struct quantization *q)
{
    static const char *const executors[] = { "generated", "engine", NULL };
    struct driver_state *driver = q->driver;
    const struct option_values *logs = &driver->args.options[OPTION_LATENCY_LOG];
    int with;
    bool ok = option_word(driver->ctx, &driver->args, OPTION_WITH, executors, 0, &with);

    ok = parse_limits(q) && ok;
    if (!has_option(&driver->args, OPTION_DATA))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc quantize' needs --data");
    ok = prepare_machine(driver) && ok;
    for (int i = 0; i < logs->n; i++)
        ok = latency_read(driver->ctx, logs->at[i], &q->latency) && ok;
    q->recipes.driver = driver;
    q->recipes.with_code = with == 0;
    q->recipes.latency = &q->latency;
    return ok;
}

/* Of a percentage one point, of other metrics a hundredth; an error of 5 % more. */
static void choose_most_loss(struct quantization *q)
{
    if (!isnan(q->most_loss))
        return;
    q->most_loss = metric_is_share(q->metric) ? 1
                   : q->metric == METRIC_MSE  ? 0.05 * answers_metric(q->selection.f32, q->metric)
                                              : 0.01;
}

static bool load(struct quantization *q)
{
    q->module = load_model(q->driver);
    if (!q->module || !check_no_regions(q->driver, q->module, "relayc quantize"))
        return false;
    choose_metric(q);
    if (!parse_judging(q, &q->selection, SPLIT_SELECTION, q->n_selection) ||
        !parse_judging(q, &q->report, SPLIT_REPORT, q->n_report))
        return false;
    q->metric = q->selection.request.metrics[0];
    return true;
}

/* --- the data --------------------------------------------------------------------------------- */

static bool open_judging(struct quantization *q, struct judging *judging)
{
    if (!eval_data_open(q->driver, &judging->request, q->module->main, &judging->data))
        return false;
    judging->f32 = recipes_f32(&q->recipes, &judging->request, &judging->data);
    return judging->f32 != NULL;
}

/* The other parts are checked before anything takes long: the calibration's samples are read by
 * each recipe for itself. */
static bool check_calibration(struct quantization *q)
{
    struct driver_state *driver = q->driver;
    const struct eval_request *request = &q->selection.request;
    const struct split split = { SPLIT_CALIBRATION, request->split.list, false };
    int64_t n;

    return request->split.calibrates_others ||
           split_samples(driver->ctx, &split, q->selection.data.samples, &n) != NULL;
}

static bool open_data(struct quantization *q)
{
    if (!open_judging(q, &q->selection) || !check_calibration(q))
        return false;
    choose_most_loss(q);
    return open_judging(q, &q->report);
}

static bool fits(const struct quantization *q, const struct recipe *recipe)
{
    return (!q->ram || recipe->arena_bytes <= q->ram) &&
           (!q->flash || recipe->weight_bytes <= q->flash);
}

/* Integers are faster where there is no FPU, and where there are dot products: a few bytes more are
 * no reason to go without. */
static bool is_preferred(const struct recipe *a, const struct recipe *b)
{
    const double share = a->sums_integers == b->sums_integers ? 1 : a->sums_integers ? 1.05 : 0.95;

    return (double)recipe_bytes(a) < share * (double)recipe_bytes(b);
}

/* Within the limits and --max-loss the smallest; else, of those within the limits, what loses
 * least. */
static bool choose(struct quantization *q)
{
    struct recipe *smallest = NULL, *best = NULL;

    for (int i = 0; i < q->n; i++) {
        struct recipe *recipe = q->at[i];

        if (recipe->state != RECIPE_LEFT || !fits(q, recipe))
            continue;
        if (!best || recipe->loss <= best->loss)
            best = recipe;
        if (recipe->loss <= q->most_loss && (!smallest || is_preferred(recipe, smallest)))
            smallest = recipe;
    }
    q->chosen = smallest ? smallest : best;
    q->meets = smallest != NULL;
    if (q->chosen)
        return true;
    diag_error(q->driver->ctx, DIAG_QUANTIZE, NULL,
               "of %d recipes none fits --ram and --flash, or can be made", q->n);
    for (int i = 0; i < q->n; i++)
        if (q->at[i]->state == RECIPE_FAILED) {
            diag_note(q->driver->ctx, "%s: %s", q->at[i]->text, q->at[i]->why);
            break;
        }
    diag_help(q->driver->ctx, "give larger limits, or other --choices such as afp=afp4+int8w=i4");
    return false;
}

static bool report_on_others(struct quantization *q)
{
    struct paired p;

    q->now = recipe_answers(q->chosen, &q->report.request, &q->report.data);
    q->command = recipe_command(&q->recipes, q->chosen);
    if (!q->now)
        return false;
    p = answers_compare(q->report.f32, q->now, q->metric);
    q->loss = recipe_loss(q->metric, p.change);
    q->error = p.error * (metric_is_share(q->metric) ? 100 : 1);
    return true;
}

static bool measure_f32(struct quantization *q)
{
    q->recipes.n = q->n;
    q->recipes.n_made = 0;
    recipe_make(&q->recipes, &q->f32);
    return q->f32.state != RECIPE_FAILED ||
           diag_error(q->driver->ctx, DIAG_QUANTIZE, NULL, "in f32: %s", q->f32.why);
}

bool driver_quantize(struct driver_state *driver, struct quantization *out)
{
    static bool (*const steps[])(struct quantization *) = {
        check_options,   /* all options */
        quantize_list,   /* --choices */
        load,            /* the model, and by which metric it is judged */
        open_data,       /* --data in three parts, and what f32 says of them */
        measure_f32,     /* its sizes */
        quantize_rounds, /* on the selection's samples */
    };
    static bool (*const last[])(struct quantization *) = { choose, report_on_others };
    bool ok = true;

    *out = (struct quantization){ .driver = driver };
    for (size_t i = 0; i < sizeof steps / sizeof *steps && ok; i++)
        ok = steps[i](out);
    if (ok)
        quantize_front(out);
    for (size_t i = 0; i < sizeof last / sizeof *last && ok; i++)
        ok = last[i](out);
    return ok;
}

bool driver_quantize_write(struct quantization *q)
{
    struct driver_state *driver = q->driver;
    struct driver_state own = recipe_driver(&q->recipes, q->chosen, driver->ctx, COMMAND_COMPILE);
    bool ok;

    own.outputs = driver->outputs;
    own.events = driver->events;
    driver_give(&own, OPTION_OUTPUT_DIR, option_text(&driver->args, OPTION_OUTPUT_DIR, "."));
    ok = driver_compile(&own);
    driver->result = own.result;
    module_free(own.module);
    driver_free(&own);
    return ok;
}

void driver_quantize_free(struct quantization *q)
{
    answers_free(q->now);
    for (int i = 0; i < q->n; i++)
        recipe_drop(q->at[i]);
    answers_free(q->selection.f32);
    answers_free(q->report.f32);
    eval_data_close(&q->selection.data);
    eval_data_close(&q->report.data);
    module_free(q->module);
}
