/* cmd_eval.c - metrics of a task over labelled data: of the float model, of a quantised one, of
 * both sample by sample. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/host_code.h"
#include "eval/run.h"

enum executor { WITH_GENERATED, WITH_ENGINE }; /* the former ships: the default */

struct request {
    struct eval_request eval;
    int n_threads;
    int with;     /* enum executor */
    bool against; /* the float model as well */
};

/* --- what is asked for ------------------------------------------------------------------------ */

static int count_threads(long long wanted)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (wanted <= 0)
        wanted = cores > 0 ? cores : 1;
    return wanted < 1024 ? (int)wanted : 1024;
}

static bool parse_request(struct cli *cli, struct request *r)
{
    static const char *const executors[] = { "generated", "engine", NULL };
    static const char *const others[] = { "f32", NULL };
    const struct arguments *args = &cli->driver->args;
    long long threads;
    int other;
    bool ok = eval_request_parse(cli, &r->eval);

    ok = option_word(cli->ctx, args, OPTION_WITH, executors, WITH_GENERATED, &r->with) && ok;
    ok = option_word(cli->ctx, args, OPTION_AGAINST, others, 0, &other) && ok;
    ok = option_integer(cli->ctx, args, OPTION_THREADS, 0, &threads) && ok;
    r->n_threads = count_threads(threads);
    r->against = has_option(args, OPTION_AGAINST);
    if (r->with != WITH_GENERATED && has_option(args, OPTION_TARGET))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL, "--target has no effect on --with engine");
    if (r->with != WITH_GENERATED && has_option(args, OPTION_DETERMINISTIC))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--deterministic has no effect on --with engine");
    ok = prepare_machine(cli->driver) && ok;
    ok = prepare_offload(cli->driver) && ok;
    if (r->against && r->with != WITH_GENERATED && !precision_wanted(cli->driver))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--against f32 compares f32 with itself: give --precision or --qtable, or "
                        "leave out --with engine");
    return ok;
}

/* --- the runs --------------------------------------------------------------------------------- */

struct shown {
    struct progress progress;
    const char *what;
};

static void show_progress(void *user, int64_t done, int64_t n)
{
    struct shown *shown = user;

    progress_show(&shown->progress, shown->what, done, n);
}

static struct answers *ask(struct cli *cli, const struct request *r, const struct eval_data *data,
                           struct module *module, enum executor with, const char *what)
{
    struct shown shown = { progress_begin(cli), what };
    const struct eval_run run = { .fn = module->main,
                                  .samples = &data->source,
                                  .n_threads = r->n_threads,
                                  .progress = show_progress,
                                  .user = &shown };
    struct answers *answers = answers_new(&r->eval.task, data->source.n);
    struct host_code code;
    bool ok;

    if (with == WITH_ENGINE) {
        ok = eval_on_engine(cli->ctx, &run, answers);
    } else {
        ok = host_code_build(cli->driver, module, false, &code) &&
             eval_on_generated(cli->ctx, &run, code.generated, answers);
        host_code_free(&code);
    }
    progress_end(&shown.progress);
    if (ok)
        return answers;
    answers_free(answers);
    return NULL;
}

/* The model as it is. */
static struct answers *ask_f32(struct cli *cli, const struct request *r,
                               const struct eval_data *data)
{
    struct module *module = load_model(cli->driver);
    struct answers *answers = NULL;

    if (module && simplify_floats(cli->driver, module, false) && fuse_floats(cli->driver, module))
        answers = ask(cli, r, data, module, WITH_ENGINE, "samples in f32");
    module_free(module);
    return answers;
}

/* --- the report ------------------------------------------------------------------------------- */

static const char *value_text(struct cli *cli, enum metric metric, double value)
{
    return metric_is_share(metric) ? arena_printf(&cli->ctx->perm, "%.2f %%", 100 * value)
           : metric == METRIC_MSE  ? arena_printf(&cli->ctx->perm, "%.6g", value)
                                   : arena_printf(&cli->ctx->perm, "%.4f", value);
}

static const char *change_text(struct cli *cli, enum metric metric, const struct paired *p)
{
    struct arena *arena = &cli->ctx->perm;

    return metric_is_share(metric)
               ? arena_printf(arena, "%+.2f ± %.2f", 100 * p->change, 100 * p->error)
           : metric == METRIC_MSE ? arena_printf(arena, "%+.3g ± %.2g", p->change, p->error)
                                  : arena_printf(arena, "%+.4f ± %.4f", p->change, p->error);
}

static void add_number(cJSON *row, const char *name, double number)
{
    if (isfinite(number))
        cJSON_AddNumberToObject(row, name, number);
    else
        cJSON_AddNullToObject(row, name);
}

static void report_row(struct cli *cli, cJSON *list, enum metric metric, const struct answers *was,
                       const struct answers *now)
{
    const double value = answers_metric(now, metric);
    cJSON *row = list ? cJSON_CreateObject() : NULL;
    struct paired p;

    if (row) {
        cJSON_AddItemToArray(list, row);
        cJSON_AddStringToObject(row, "name", metric_name(metric));
        add_number(row, "value", value);
    }
    if (!was) {
        say(cli, "%-10s %10s\n", metric_name(metric), value_text(cli, metric, value));
        return;
    }
    p = answers_compare(was, now, metric);
    say(cli, "%-10s %10s %10s  %18s", metric_name(metric),
        value_text(cli, metric, answers_metric(was, metric)), value_text(cli, metric, value),
        change_text(cli, metric, &p));
    if (p.has_classes)
        say(cli, "  %7.2f %%  %lld / %lld", 100 * (double)p.n_agree / (double)now->n,
            (long long)p.n_lost, (long long)p.n_won);
    say(cli, "\n");
    if (!row)
        return;
    add_number(row, "f32", answers_metric(was, metric));
    add_number(row, "change", p.change);
    add_number(row, "standard_error", p.error);
    if (p.has_classes) {
        cJSON_AddNumberToObject(row, "agree", (double)p.n_agree);
        cJSON_AddNumberToObject(row, "lost", (double)p.n_lost);
        cJSON_AddNumberToObject(row, "won", (double)p.n_won);
    }
}

static void report(struct cli *cli, const struct request *r, const struct answers *was,
                   const struct answers *now)
{
    cJSON *list = NULL;

    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "samples", (double)now->n);
        cJSON_AddStringToObject(cli->json, "with",
                                r->with == WITH_GENERATED ? "generated" : "engine");
        if (r->with == WITH_GENERATED)
            cJSON_AddStringToObject(cli->json, "target", cli->driver->machine->name);
        list = cJSON_AddArrayToObject(cli->json, "metrics");
    }
    report_precision(cli);
    say(cli, "%lld sample%s, judged by %s%s\n", (long long)now->n, str_plural(now->n),
        r->with == WITH_GENERATED
            ? arena_printf(&cli->ctx->perm, "the generated C (%s)", cli->driver->machine->name)
            : "oneDNN",
        was ? "; f32 by oneDNN" : "");
    if (was)
        say(cli, "%-10s %10s %10s  %17s  %9s  %s\n", "metric", "f32",
            precision_wanted(cli->driver) ? "quantised" : "generated", "change", "agree",
            "lost / won");
    for (int i = 0; i < r->eval.n_metrics; i++)
        report_row(cli, list, r->eval.metrics[i], was, now);
}

/* --- the command ------------------------------------------------------------------------------ */

static struct answers *ask_model(struct cli *cli, const struct request *r,
                                 const struct eval_data *data, struct module *module)
{
    if (r->with == WITH_ENGINE && precision_wanted(cli->driver))
        simulate_precision(cli->driver);
    return run_passes(cli->driver, module)
               ? ask(cli, r, data, module, (enum executor)r->with, "samples")
               : NULL;
}

bool command_eval(struct cli *cli)
{
    struct request request = { .n_threads = 1 };
    struct answers *was = NULL, *now = NULL;
    struct eval_data data = { .samples = NULL };
    struct module *module;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    if (!parse_request(cli, &request))
        return false;
    module = load_model(cli->driver);
    ok = module && check_no_regions(cli->driver, module, "relayc eval") &&
         eval_data_open(cli, &request.eval, module->main, &data);
    if (ok && request.against) {
        was = ask_f32(cli, &request, &data);
        ok = was != NULL;
    }
    if (ok)
        now = ask_model(cli, &request, &data, module);
    ok = now != NULL;
    if (ok)
        report(cli, &request, was, now);
    answers_free(was);
    answers_free(now);
    eval_data_close(&data);
    module_free(module);
    return ok;
}
