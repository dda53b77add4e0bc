/* cmd_quantize.c - relayc quantize: the recipes that no other beats, the recommended one on samples
 * of their own, and the command that makes it. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/commands/quantize.h"

static const char *value_text(struct arena *arena, enum metric metric, double value)
{
    return metric_is_share(metric) ? arena_printf(arena, "%.2f %%", 100 * value)
                                   : arena_printf(arena, "%.5g", value);
}

static const char *loss_text(struct arena *arena, const struct quantization *q,
                             const struct recipe *recipe)
{
    return metric_is_share(q->metric)
               ? arena_printf(arena, "%.2f ± %.2f", recipe->loss, recipe->error)
               : arena_printf(arena, "%.4g ± %.2g", recipe->loss, recipe->error);
}

static const char *time_text(struct arena *arena, const struct quantization *q, double seconds)
{
    return q->latency.n ? arena_printf(arena, " %9.4g", 1e3 * seconds) : "";
}

/* Columns for the names of recipes. */
static int name_width(const struct quantization *q)
{
    size_t width = 28;

    for (int i = 0; i < q->n; i++)
        width = strlen(q->at[i]->text) > width ? strlen(q->at[i]->text) : width;
    return (int)width;
}

static void say_row(struct cli *cli, const struct quantization *q, const struct recipe *recipe)
{
    struct arena *arena = &cli->ctx->perm;
    const struct paired *p = &recipe->paired;
    const bool is_f32 = recipe == &q->f32;

    say(cli, "%c %-*s %9zu %9zu%s  %-8s", recipe == q->chosen ? '*' : ' ', name_width(q),
        recipe->text, recipe->weight_bytes, recipe->arena_bytes,
        time_text(arena, q, recipe->seconds), recipe->sums_integers ? "integer" : "float");
    if (is_f32) {
        say(cli, " %10s\n",
            value_text(arena, q->metric, answers_metric(q->selection.f32, q->metric)));
        return;
    }
    say(cli, " %10s  %16s", value_text(arena, q->metric, recipe->value),
        loss_text(arena, q, recipe));
    if (p->has_classes)
        say(cli, "  %9s  %6.2g",
            arena_printf(arena, "%lld / %lld", (long long)p->n_lost, (long long)p->n_won), p->p);
    say(cli, "\n");
}

static void say_front(struct cli *cli, const struct quantization *q)
{
    say(cli, "\n  %-*s %9s %9s%s  %-8s %10s  %15s%s\n", name_width(q), "recipe", "weights", "arena",
        q->latency.n ? "        ms" : "", "sums", metric_name(q->metric), "loss",
        metric_is_share(q->metric) ? "  lost / won       p" : "");
    say_row(cli, q, &q->f32);
    for (int i = 0; i < q->n; i++)
        if (q->at[i]->state == RECIPE_LEFT)
            say_row(cli, q, q->at[i]);
}

static void say_others(struct cli *cli, const struct quantization *q)
{
    struct arena *arena = &cli->ctx->perm;
    int n = 0;

    for (int i = 0; i < q->n; i++) {
        const struct recipe *recipe = q->at[i];

        if (recipe->state == RECIPE_LEFT)
            continue;
        if (n++ == 0)
            say(cli, "\ndropped on the way:\n");
        say(cli, "  %-*s ", name_width(q), recipe->text);
        if (recipe->state == RECIPE_DROPPED)
            say(cli, "%9zu %9zu  loss %s of %lld: %s\n", recipe->weight_bytes, recipe->arena_bytes,
                loss_text(arena, q, recipe), (long long)recipe->n, recipe->why);
        else
            say(cli, "cannot be made: %s\n", recipe->why);
    }
}

static const char *limits_text(struct arena *arena, const struct quantization *q)
{
    return metric_is_share(q->metric)
               ? arena_printf(arena, "%g point%s", q->most_loss, q->most_loss == 1 ? "" : "s")
               : arena_printf(arena, "%.4g", q->most_loss);
}

static void say_parts(struct cli *cli, const struct quantization *q)
{
    const struct eval_request *r = &q->selection.request;

    say(cli, "%s; %.2f M MACs; judged by %s\n", cli->driver->args.operands[0],
        (double)q->f32.macs / 1e6,
        q->recipes.with_code
            ? arena_printf(&cli->ctx->perm, "the generated C (%s)", cli->driver->machine->name)
            : "oneDNN");
    say(cli, "samples: calibration up to %lld%s, selection %lld, report %lld (parts by %s)\n",
        q->n_calibration, r->split.calibrates_others ? " of --calib-data" : "",
        (long long)q->selection.data.source.n, (long long)q->report.data.source.n,
        r->split.list ? r->split.list : "a hash of the name");
}

static void say_chosen(struct cli *cli, const struct quantization *q)
{
    struct arena *arena = &cli->ctx->perm;
    const struct eval_request *r = &q->report.request;

    if (q->meets)
        say(cli, "\nrecommended: %s, the smallest that loses at most %s\n", q->chosen->text,
            limits_text(arena, q));
    else
        say(cli, "\nnone loses at most %s; what loses least: %s\n", limits_text(arena, q),
            q->chosen->text);
    say(cli, "on %lld samples that neither calibrated nor selected:\n",
        (long long)q->report.data.source.n);
    report_metric_head(cli, "quantised");
    for (int i = 0; i < r->n_metrics; i++)
        report_metric(cli, NULL, r->metrics[i], q->report.f32, q->now);
    if (q->meets && q->loss - q->error > q->most_loss)
        say(cli,
            "that is more than on the selection, by more than its standard error: give a larger "
            "--select-limit, or a smaller --max-loss\n");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_number(cJSON *row, const char *name, double number)
{
    if (isfinite(number))
        cJSON_AddNumberToObject(row, name, number);
    else
        cJSON_AddNullToObject(row, name);
}

static void add_recipe(cJSON *list, const struct quantization *q, const struct recipe *recipe)
{
    static const char *const states[] = { "front", "dropped", "failed" };
    cJSON *row = cJSON_CreateObject();

    cJSON_AddItemToArray(list, row);
    cJSON_AddStringToObject(row, "recipe", recipe->text);
    cJSON_AddStringToObject(row, "state", states[recipe->state]);
    if (recipe->why)
        cJSON_AddStringToObject(row, "why", recipe->why);
    if (recipe->state == RECIPE_FAILED)
        return;
    cJSON_AddNumberToObject(row, "weight_bytes", (double)recipe->weight_bytes);
    cJSON_AddNumberToObject(row, "arena_bytes", (double)recipe->arena_bytes);
    if (q->latency.n)
        cJSON_AddNumberToObject(row, "seconds", recipe->seconds);
    cJSON_AddStringToObject(row, "sums", recipe->sums_integers ? "integer" : "float");
    if (recipe == &q->f32)
        return;
    cJSON_AddNumberToObject(row, "samples", (double)recipe->n);
    add_number(row, "value", recipe->value);
    add_number(row, "loss", recipe->loss);
    add_number(row, "standard_error", recipe->error);
    if (!recipe->paired.has_classes)
        return;
    cJSON_AddNumberToObject(row, "lost", (double)recipe->paired.n_lost);
    cJSON_AddNumberToObject(row, "won", (double)recipe->paired.n_won);
    cJSON_AddNumberToObject(row, "p", recipe->paired.p);
}

/* The recipe's options, by which programs call compile. */
static void add_options(cJSON *json, const struct recipe *recipe)
{
    cJSON *options = cJSON_AddObjectToObject(json, "options");

    cJSON_AddStringToObject(options, "precision", recipe->precision);
    for (int i = 0; i < recipe->n_options; i++)
        cJSON_AddStringToObject(options, option_name(recipe->options[i].option),
                                recipe->options[i].value);
}

static void report_json(struct cli *cli, const struct quantization *q)
{
    cJSON *json = cli->json, *samples, *list;
    const struct eval_request *r = &q->report.request;

    cJSON_AddStringToObject(json, "with", q->recipes.with_code ? "generated" : "engine");
    cJSON_AddStringToObject(json, "target", cli->driver->machine->name);
    cJSON_AddNumberToObject(json, "macs", (double)q->f32.macs);
    samples = cJSON_AddObjectToObject(json, "samples");
    cJSON_AddStringToObject(samples, "split", r->split.list ? r->split.list : "a hash of the name");
    cJSON_AddNumberToObject(samples, "calibration_limit", (double)q->n_calibration);
    cJSON_AddNumberToObject(samples, "selection", (double)q->selection.data.source.n);
    cJSON_AddNumberToObject(samples, "report", (double)q->report.data.source.n);
    cJSON_AddStringToObject(json, "metric", metric_name(q->metric));
    list = cJSON_AddArrayToObject(json, "recipes");
    add_recipe(list, q, &q->f32);
    for (int i = 0; i < q->n; i++)
        add_recipe(list, q, q->at[i]);
    cJSON_AddStringToObject(json, "recommended", q->chosen->text);
    cJSON_AddNumberToObject(json, "max_loss", q->most_loss);
    cJSON_AddBoolToObject(json, "meets_max_loss", q->meets);
    list = cJSON_AddArrayToObject(json, "metrics");
    for (int i = 0; i < r->n_metrics; i++)
        report_metric(cli, list, r->metrics[i], q->report.f32, q->now);
    add_number(json, "loss", q->loss);
    add_number(json, "standard_error", q->error);
    cJSON_AddStringToObject(json, "command", q->command);
    add_options(json, q->chosen);
}

/* --- the command ------------------------------------------------------------------------------ */

static void report(struct cli *cli, const struct quantization *q)
{
    if (cli->json) {
        report_json(cli, q);
        return;
    }
    say_parts(cli, q);
    say_front(cli, q);
    say_others(cli, q);
    say_chosen(cli, q);
}

static bool write_files(struct cli *cli, struct quantization *q)
{
    const struct codegen_result *result = &cli->driver->result;
    cJSON *list;

    if (!has_option(&cli->driver->args, OPTION_OUTPUT_DIR))
        return true;
    if (!driver_quantize_write(q) || !output_finish(cli->outputs))
        return false;
    for (int i = 0; i < result->n_files; i++)
        say(cli, "%s%s", i ? ", " : "  wrote   ", result->files[i]);
    say(cli, "\n");
    list = cli->json ? cJSON_AddArrayToObject(cli->json, "files") : NULL;
    for (int i = 0; list && i < result->n_files; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(result->files[i]));
    return true;
}

bool command_quantize(struct cli *cli)
{
    struct quantization q;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_quantize(cli->driver, &q);
    if (ok) {
        report(cli, &q);
        ok = write_files(cli, &q);
        say(cli, "  next    %s -o %s\n", q.command,
            for_shell(cli->driver, option_text(&cli->driver->args, OPTION_OUTPUT_DIR, "gen/")));
    }
    driver_quantize_free(&q);
    return ok;
}
