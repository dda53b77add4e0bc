/* tune_log.c - --tune-log: choices that relayc tune found, for compile, bench, run and verify. */
#include "cli/tune.h"
#include "codegen_c/machine/machine.h"

bool prepare_tuning(struct cli *cli)
{
    const struct option_values *files = &cli->args.options[OPTION_TUNE_LOG];
    struct tune_log log = { .n = 0 };
    struct choices *choices = arena_new(&cli->ctx->perm, struct choices);
    bool ok = true;

    for (int i = 0; i < files->n; i++)
        ok = tune_log_read(cli->ctx, files->at[i], &log) && ok;
    if (!ok || files->n == 0)
        return ok;
    *choices = tune_log_best(cli->ctx, &log, cli->machine->name);
    cli->choices = choices;
    if (choices->by_signature.n == 0) {
        diag_warn(cli->ctx, DIAG_TUNE_STALE, NULL, "no choice of the tuning log is for --target %s",
                  cli->machine->name);
        diag_help(cli->ctx, "--target must be the one that relayc tune was given (without: host)");
    }
    return true;
}

void report_tuning(struct cli *cli, const struct codegen_result *result)
{
    cJSON *list = cli->choices && cli->json ? cJSON_AddArrayToObject(cli->json, "tuned") : NULL;
    int n = 0;

    for (int i = 0; cli->choices && i < result->n_regions; i++) {
        const struct codegen_region *region = &result->regions[i];
        struct choice taken = { .value = { NULL } };

        if (!region->chosen)
            continue;
        for (int k = 0; k < KNOB_COUNT; k++)
            if (region->knobs[k].n && region->knobs[k].taken != region->knobs[k].usual)
                taken.value[k] = region->knobs[k].taken;
        n++;
        if (list) {
            cJSON *row = cJSON_CreateObject();

            cJSON_AddStringToObject(row, "function", region->c_name);
            cJSON_AddStringToObject(row, "choices", choice_text(&cli->ctx->perm, &taken));
            cJSON_AddItemToArray(list, row);
        }
        say(cli, "%s%s %s (%s)", n == 1 ? "  tuned   " : ", ", region->c_name, region->kernel,
            choice_text(&cli->ctx->perm, &taken));
    }
    if (n)
        say(cli, "\n");
    else if (cli->choices)
        say(cli, "  tuned   no region: the log has none of them\n");
}
