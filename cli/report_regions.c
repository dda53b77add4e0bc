/* report_regions.c - which target runs the regions, and how they were written. */
#include <string.h>

#include "cli/report.h"
#include "codegen_c/core/knob.h"

void report_offload(struct cli *cli, const struct module *module)
{
    const struct target *c = cli->driver->offload.targets.first;
    bool foreign =
        offload_wanted(cli->driver); /* a JSON graph may have regions of targets without */
    const char *before = "  targets";
    cJSON *json;

    for (const struct target *t = c; t && !foreign; t = t->next)
        foreign = t != c && count_regions(module, t) > 0;
    if (!foreign)
        return;
    json = cli->json ? cJSON_AddObjectToObject(cli->json, "targets") : NULL;
    for (const struct target *t = c; t; t = t->next) {
        const int n = count_regions(module, t);

        if (n == 0)
            continue;
        say(cli, "%s %s %d region%s", before, t->name, n, n == 1 ? "" : "s");
        before = ",";
        if (json)
            cJSON_AddNumberToObject(json, t->name, n);
    }
    say(cli, "%s", *before == ',' ? "\n" : "");
}

void report_tuning(struct cli *cli, const struct codegen_result *result)
{
    cJSON *list =
        cli->driver->choices && cli->json ? cJSON_AddArrayToObject(cli->json, "tuned") : NULL;
    int n = 0;

    for (int i = 0; cli->driver->choices && i < result->n_regions; i++) {
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
    else if (cli->driver->choices)
        say(cli, "  tuned   no region: the log has nothing faster for them\n");
}
