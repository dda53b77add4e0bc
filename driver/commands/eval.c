/* eval.c - see eval.h. */
#include "driver/commands/eval.h"

#include <unistd.h>

#include "base/str.h"
#include "driver/host_code.h"
#include "eval/run.h"

/* --- what is asked for ------------------------------------------------------------------------ */

static int count_threads(long long wanted)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (wanted <= 0)
        wanted = cores > 0 ? cores : 1;
    return wanted < 1024 ? (int)wanted : 1024;
}

static bool check_options(struct evaluation *e)
{
    static const char *const executors[] = { "generated", "engine", NULL };
    static const char *const others[] = { "f32", NULL };
    struct driver_state *driver = e->driver;
    const struct arguments *args = &driver->args;
    long long threads;
    int with, other;
    bool ok = eval_request_parse(driver, &e->request);

    ok = option_word(driver->ctx, args, OPTION_WITH, executors, 0, &with) && ok;
    ok = option_word(driver->ctx, args, OPTION_AGAINST, others, 0, &other) && ok;
    ok = option_integer(driver->ctx, args, OPTION_THREADS, 0, &threads) && ok;
    e->n_threads = count_threads(threads);
    e->with_code = with == 0;
    e->against = has_option(args, OPTION_AGAINST);
    if (!e->with_code && has_option(args, OPTION_TARGET))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--target has no effect on --with engine");
    if (!e->with_code && has_option(args, OPTION_DETERMINISTIC))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--deterministic has no effect on --with engine");
    ok = prepare_machine(driver) && ok;
    ok = prepare_offload(driver) && ok;
    if (!e->against && (e->request.task.wanted[METRIC_AGREE] || e->request.task.wanted[METRIC_COS]))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "agree and cos compare with the float model: give --against f32");
    if (e->against && !e->with_code && !precision_wanted(driver))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--against f32 compares f32 with itself: give --precision or --qtable, or "
                        "leave out --with engine");
    return ok;
}

/* --- the runs --------------------------------------------------------------------------------- */

struct shown {
    const struct driver_state *driver;
    const char *what;
};

static void show_progress(void *user, int64_t done, int64_t n)
{
    const struct shown *shown = user;

    driver_progress(shown->driver, shown->what, done, n);
}

/* Functions of backends may keep a state: one caller at a time. */
static int count_workers(const struct evaluation *e, bool with_code)
{
    return with_code && offload_wanted(e->driver) ? 1 : e->n_threads;
}

static struct answers *ask(struct evaluation *e, struct module *module, bool with_code,
                           bool is_reference, const char *what)
{
    struct driver_state *driver = e->driver;
    struct shown shown = { driver, what };
    const struct eval_run run = { .fn = module->main,
                                  .samples = &e->data.source,
                                  .n_threads = count_workers(e, with_code),
                                  .progress = show_progress,
                                  .user = &shown };
    struct answers *answers = answers_new(&e->request.task, e->data.source.n);
    struct host_code code;
    bool ok;

    answers->is_reference = is_reference;
    driver_progress(driver, what, 0, 1);
    if (with_code) {
        ok = host_code_build(driver, module, false, &code) &&
             eval_on_generated(driver->ctx, &run, code.generated, answers);
        host_code_free(&code);
    } else {
        ok = eval_on_engine(driver->ctx, &run, answers);
    }
    driver_progress(driver, what, 0, 0);
    if (ok)
        return answers;
    answers_free(answers);
    return NULL;
}

static bool load(struct evaluation *e)
{
    e->module = load_model(e->driver);
    return e->module && check_no_regions(e->driver, e->module, "relayc eval");
}

static bool open_data(struct evaluation *e)
{
    return eval_data_open(e->driver, &e->request, e->module->main, &e->data);
}

/* The model as it is. */
static bool ask_f32(struct evaluation *e)
{
    struct driver_state *driver = e->driver;
    struct module *module;

    if (!e->against)
        return true;
    module = load_model(driver);
    if (module && simplify_floats(driver, module, false) && fuse_floats(driver, module))
        e->f32 = ask(e, module, false, true, "samples in f32");
    module_free(module);
    return e->f32 != NULL;
}

static bool simplify_to_fuse(struct evaluation *e)
{
    if (!e->with_code && precision_wanted(e->driver))
        simulate_precision(e->driver);
    return run_passes(e->driver, e->module);
}

static bool ask_model(struct evaluation *e)
{
    e->now = ask(e, e->module, e->with_code, false, "samples");
    return e->now != NULL;
}

bool driver_eval(struct driver_state *driver, struct evaluation *out)
{
    static bool (*const stages[])(struct evaluation *) = {
        check_options,    /* all options */
        load,             /* the model */
        open_data,        /* --data, --labels */
        ask_f32,          /* --against */
        simplify_to_fuse, /* the stages of driver.c */
        ask_model,        /* --with */
    };
    bool ok = true;

    *out = (struct evaluation){ .driver = driver };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

void driver_eval_free(struct evaluation *evaluation)
{
    answers_free(evaluation->f32);
    answers_free(evaluation->now);
    eval_data_close(&evaluation->data);
    module_free(evaluation->module);
}
