/* cmd_tune.c - relayc tune: a line for each region as soon as it is tuned. */
#include "base/str.h"
#include "cli/cli.h"
#include "codegen_c/core/knob.h"
#include "codegen_c/machine/machine.h"
#include "driver/commands/tune.h"
#include "driver/part.h"

static void say_begin(void *user, const struct tuner *tuner)
{
    struct cli *cli = user;

    say(cli, "%d regions that differ, at most %lld trials, on %s with %s %s\n", tuner->n_regions,
        (long long)tuner->trials_expected, tuner->key.target, tuner->key.compiler,
        tuner->key.flags);
    say(cli, "%-32s %4s %6s %10s %10s  %5s  choices\n", "region", "", "trials", "usual us",
        "best us", "ratio");
}

static void say_region(void *user, const struct tuned_region *r)
{
    struct cli *cli = user;

    say(cli, "%-32.32s %3dx %6d", r->title, r->n_times, r->n_trials);
    if (r->found)
        say(cli, " %10.2f %10.2f  %5.3f  %s", r->best.usual_warm * 1e6, r->best.warm * 1e6,
            trial_score(&r->best), choice_text(&cli->ctx->perm, &r->best.choice));
    else
        say(cli, " %10s %10s  %5s  usual", "", "", "");
    if (r->n_wrong || r->n_failed)
        say(cli, " (%d wrong, %d failed)", r->n_wrong, r->n_failed);
    say(cli, "\n");
    fflush(stdout);
}

static void add_json(struct cli *cli, const struct tuner *tuner)
{
    cJSON *list = cJSON_AddArrayToObject(cli->json, "regions");

    cJSON_AddStringToObject(cli->json, "target", tuner->key.target);
    for (int i = 0; i < tuner->n_regions; i++) {
        const struct tuned_region *r = &tuner->regions[i];
        cJSON *row = cJSON_CreateObject(), *knobs;

        cJSON_AddStringToObject(row, "function", r->region->c_name);
        cJSON_AddStringToObject(row, "signature", r->region->signature);
        cJSON_AddNumberToObject(row, "times", r->n_times);
        cJSON_AddNumberToObject(row, "trials", r->n_trials);
        cJSON_AddNumberToObject(row, "wrong", r->n_wrong);
        cJSON_AddNumberToObject(row, "failed", r->n_failed);
        cJSON_AddNumberToObject(row, "ratio", r->found ? trial_score(&r->best) : 1);
        knobs = cJSON_AddObjectToObject(row, "knobs");
        for (int k = 0; r->found && k < KNOB_COUNT; k++)
            if (r->best.choice.value[k])
                cJSON_AddStringToObject(knobs, knob_name((enum knob)k), r->best.choice.value[k]);
        cJSON_AddItemToArray(list, row);
    }
}

static void report(struct cli *cli, const struct tuner *tuner)
{
    int n_found = 0, n_wrong = 0;

    for (int i = 0; i < tuner->n_regions; i++) {
        n_found += tuner->regions[i].found;
        n_wrong += tuner->regions[i].n_wrong;
    }
    if (cli->json) {
        add_json(cli, tuner);
        return;
    }
    say(cli, "%d of %d faster than the default; %s has all trials\n", n_found, tuner->n_regions,
        tuner->path);
    if (n_wrong)
        say(cli, "%d trials gave different outputs: a bug in relayc or in the compiler\n", n_wrong);
    say(cli, "  next    relayc compile %s%s --target %s --tune-log %s\n",
        for_shell(cli->driver, cli->driver->args.operands[0]), part_options(cli->driver, true),
        cli->driver->machine->name,
        for_shell(cli->driver, tuner->path));
}

bool command_tune(struct cli *cli)
{
    const struct tune_events events = { say_begin, say_region, cli };
    struct tuner tuner;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_tune(cli->driver, &events, &tuner);
    if (ok)
        report(cli, &tuner);
    return driver_tune_free(&tuner) && ok;
}
