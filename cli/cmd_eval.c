/* cmd_eval.c - relayc eval: a line for each metric. */
#include <math.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/commands/eval.h"

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

void report_metric(struct cli *cli, cJSON *list, enum metric metric, const struct answers *was,
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
        say(cli, "  %7.2f %%  %11s  %6.2g", 100 * (double)p.n_agree / (double)now->n,
            arena_printf(&cli->ctx->perm, "%lld / %lld", (long long)p.n_lost, (long long)p.n_won),
            p.p);
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
        cJSON_AddNumberToObject(row, "p", p.p);
    }
}

void report_metric_head(struct cli *cli, const char *what)
{
    say(cli, "%-10s %10s %10s  %17s  %9s  %11s  %6s\n", "metric", "f32", what, "change", "agree",
        "lost / won", "p");
}

static void report(struct cli *cli, const struct evaluation *e)
{
    const struct answers *was = e->f32, *now = e->now;
    cJSON *list = NULL;

    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "samples", (double)now->n);
        cJSON_AddStringToObject(cli->json, "with", e->with_code ? "generated" : "engine");
        if (e->with_code)
            cJSON_AddStringToObject(cli->json, "target", cli->driver->machine->name);
        list = cJSON_AddArrayToObject(cli->json, "metrics");
    }
    report_precision(cli);
    say(cli, "%lld sample%s, judged by %s%s\n", (long long)now->n, str_plural(now->n),
        e->with_code
            ? arena_printf(&cli->ctx->perm, "the generated C (%s)", cli->driver->machine->name)
            : "oneDNN",
        was ? "; f32 by oneDNN" : "");
    if (was)
        report_metric_head(cli, precision_wanted(cli->driver) ? "quantised" : "generated");
    for (int i = 0; i < e->request.n_metrics; i++)
        report_metric(cli, list, e->request.metrics[i], was, now);
}

bool command_eval(struct cli *cli)
{
    struct evaluation evaluation;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_eval(cli->driver, &evaluation);
    if (ok)
        report(cli, &evaluation);
    driver_eval_free(&evaluation);
    return ok;
}
