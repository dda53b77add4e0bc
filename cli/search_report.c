/* search_report.c - what a search has found, in words or JSON. */
#include "cli/search_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/part.h"

enum { SHOWN = 10 };

static double decibels(double snr)
{
    return snr > 0 ? -10 * log10(snr) : (double)INFINITY;
}

static void say_score(struct cli *cli, const char *what, const struct score *s)
{
    say(cli, "%-60.60s %10.6f %10.2f %12.5g", what, s->cos, decibels(s->snr), s->mse);
    if (!isnan(s->task))
        say(cli, " %10.5g", s->task);
    say(cli, "\n");
}

static void add_score(cJSON *json, const char *name, const struct score *s)
{
    cJSON *row = cJSON_AddObjectToObject(json, name);

    cJSON_AddNumberToObject(row, "loss", s->loss);
    cJSON_AddNumberToObject(row, "cos", s->cos);
    cJSON_AddNumberToObject(row, "snr", s->snr);
    cJSON_AddNumberToObject(row, "mse", s->mse);
    if (!isnan(s->task))
        cJSON_AddNumberToObject(row, "metric", s->task);
}

static void add_front(cJSON *json, const struct found *found)
{
    cJSON *front = cJSON_AddArrayToObject(json, "front");

    for (int i = 0; i < found->n_front; i++) {
        const struct priced *at = &found->front[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddStringToObject(row, "network", at->what);
        cJSON_AddNumberToObject(row, "flash", (double)at->price.flash);
        cJSON_AddNumberToObject(row, "ram", (double)at->price.ram);
        if (at->price.latency > 0)
            cJSON_AddNumberToObject(row, "seconds", at->price.latency);
        add_score(row, "score", &at->score);
        cJSON_AddItemToArray(front, row);
    }
}

static void report_json(struct cli *cli, const struct search *search, const struct found *found)
{
    cJSON *kept = cJSON_AddArrayToObject(cli->json, "f32");

    add_score(cli->json, "start", &found->start);
    add_score(cli->json, "found", &found->end);
    for (int i = 0; i < search->units.n; i++)
        if (found->settings[i] == 0)
            cJSON_AddItemToArray(kept, cJSON_CreateString(str_safe(
                                           &cli->ctx->perm, search->units.at[i].name, 4096)));
    cJSON_AddNumberToObject(cli->json, "trials", trials_count(search->trials));
    if (found->n_front)
        add_front(cli->json, found);
}

/* Which parts of the weights and of the multiplications are in 8 bits or less; a multiplication is
 * where its weights are. */
static void small_shares(const struct search *search, const int *settings, double *weights,
                         double *macs)
{
    double all_weights = 0, all_macs = 0;

    *weights = *macs = 0;
    for (int i = 0; i < search->units.n; i++) {
        const struct unit *unit = &search->units.at[i];
        const struct precision *p = &search->settings[settings[i]].precision;

        if (unit->n_weights == 0)
            continue;
        all_weights += (double)unit->n_weights;
        all_macs += (double)unit->macs;
        if (!p->has_weights || number_format_bits(&p->weights) > 8)
            continue;
        *weights += (double)unit->n_weights;
        *macs += (double)unit->macs;
    }
    *weights = all_weights > 0 ? *weights / all_weights : 0;
    *macs = all_macs > 0 ? *macs / all_macs : 0;
}

/* Of those that the precision changes. */
static int n_in_f32(const struct search *search, const struct precision *precision,
                    const int *settings)
{
    int n = 0;

    for (int i = 0; i < search->units.n; i++)
        n += settings[i] == 0 && unit_takes(&search->units.at[i], precision);
    return n;
}

static const char *latency_text(struct arena *arena, const struct price *price)
{
    return price->latency > 0 ? arena_printf(arena, "%.4g", 1e3 * price->latency) : "";
}

/* Pareto's front. */
static void report_front(struct cli *cli, const struct precision_search *r,
                         const struct found *found)
{
    if (!found->n_front)
        return;
    say(cli, "\n%-36s %10s %10s %10s %10s %12s\n", "Pareto front", "flash", "RAM",
        r->options.tells_latency ? "ms" : "", "cosine", "loss");
    for (int i = 0; i < found->n_front; i++) {
        const struct priced *at = &found->front[i];

        say(cli, "%-36.36s %10zu %10zu %10s %10.6f %12.6g\n", at->what, at->price.flash,
            at->price.ram, latency_text(&cli->ctx->perm, &at->price), at->score.cos,
            at->score.loss);
    }
    say(cli, "found takes %zu bytes of flash, %zu of RAM%s%s\n", found->price.flash,
        found->price.ram, r->options.tells_latency ? ", ms: " : "",
        latency_text(&cli->ctx->perm, &found->price));
    if (r->price.unknown_share > 0)
        say(cli,
            "up to %.1f %% of the time is estimated: regions missing from --latency-log are scaled "
            "from others\n",
            100 * r->price.unknown_share);
    say(cli, "\n");
}

static void report_ranking(struct cli *cli, const struct search *search, const struct found *found)
{
    if (!found->n_ranked)
        return;
    say(cli, "\n%-44s %-16s %12s  %s\n", "loss with only this unit quantised", "operator", "loss",
        "least with");
    for (int i = 0; i < found->n_ranked && i < SHOWN; i++) {
        const struct unit *unit = &search->units.at[found->ranking[i].unit];

        say(cli, "%-44s %-16s %12.6g  %s\n", str_safe(&cli->ctx->perm, unit->name, 44),
            op_name(unit->op), found->ranking[i].score.loss,
            search->settings[found->ranking[i].setting].text);
    }
}

static void report_target(struct cli *cli, const struct precision_search *r,
                          const struct search *search, const struct found *found)
{
    const double target = found->target > 0 ? found->target : r->options.target;

    if (found->target > 0)
        say(cli, "asked for: a cosine of %.6g, as that of different samples is %.4g\n", target,
            1 - search_spread(search));
    if (found->end.cos < target)
        say(cli, "the target %g was not reached\n", target);
}

void search_say(struct cli *cli, const struct precision_search *r)
{
    const struct search *search = &r->search;
    const struct found *found = &r->found;
    const struct reuse_report kept = reuse_report(search->reuse);
    const char *prefix = for_shell(cli->driver, r->prefix);
    const bool has_table = found->table || search->options->calib;
    double weights, macs;

    if (cli->json) {
        report_json(cli, search, found);
        return;
    }
    say(cli, "%d units, %lld samples, %d trials; %d of %d activations kept in %.0f MiB\n",
        search->units.n, (long long)search->options->n_samples, trials_count(search->trials),
        kept.n_kept, kept.n_values, (double)kept.bytes / (1 << 20));
    report_ranking(cli, search, found);
    say(cli, "\n%-60s %10s %10s %12s%s\n", "network", "cosine", "SQNR dB", "mse",
        search->options->judge ? "     metric" : "");
    say_score(cli, "start", &found->start);
    for (int i = 0; i < found->n_stages; i++)
        say_score(cli, found->stages[i].what, &found->stages[i].score);
    say_score(cli, found->is_start ? "found: the start" : "found", &found->end);
    report_front(cli, r, found);
    small_shares(search, found->settings, &weights, &macs);
    say(cli,
        "%.1f %% of the weights and %.1f %% of the multiplications in 8 bits or less; %d units in "
        "f32\n",
        100 * weights, 100 * macs, n_in_f32(search, &r->options.precision, found->settings));
    report_target(cli, r, search, found);
    say(cli, "wrote %s.qtable, %s%s%s.log, %s.jsonl\n", r->prefix, has_table ? r->prefix : "",
        has_table ? ".calib.json, " : "", r->prefix, r->prefix);
    say(cli, "  next    relayc compile %s%s --qtable %s.qtable%s%s%s\n",
        for_shell(cli->driver, cli->driver->args.operands[0]), part_options(cli->driver, true), prefix, has_table ? " --calib " : "",
        has_table ? prefix : "", has_table ? ".calib.json" : "");
}
