/* report_memory.c - how much of each memory is taken: --ram, --flash, --board, --pool. */
#include "cli/report.h"

/* As for a command that has no --board. */
void repeat_pools(struct cli *cli)
{
    static const char *const speeds[] = {
        [POOL_NORMAL] = "", [POOL_FAST] = ",fast", [POOL_SLOW] = ",slow"
    };
    static const char *const takes[] = {
        [POOL_OF_ARENA] = "", [POOL_OF_BOTH] = ",weights", [POOL_OF_CONSTANTS] = ",const"
    };

    for (int p = 0; p < cli->driver->n_pools; p++) {
        const struct codegen_pool *pool = &cli->driver->pools[p];
        struct arena *arena = &cli->ctx->perm;

        say(cli, " --pool %s",
            for_shell(cli->driver,
                      arena_printf(arena, "%s=%s%s%s%s%s", pool->name,
                                   bytes_text(arena, pool->bytes), speeds[pool->speed],
                                   pool->section ? ",section=" : "",
                                   pool->section ? pool->section : "", takes[pool->takes])));
    }
}

void report_pools(struct cli *cli)
{
    const struct codegen_options *options = &cli->driver->codegen;
    const struct codegen_result *result = &cli->driver->result;

    for (int p = 0; p < options->n_pools; p++) {
        const struct codegen_pool *pool = &options->pools[p];

        say(cli, "  %-7s %zu of %zu bytes", pool->name,
            result->pool_bytes[p] + result->pool_constant_bytes[p], pool->bytes);
        if (pool->takes != POOL_OF_ARENA)
            say(cli, ", %zu of them constants", result->pool_constant_bytes[p]);
        say(cli, "\n");
    }
}

static void report_memory(struct cli *cli, const char *name, size_t allowed, size_t needed)
{
    if (allowed)
        say(cli, " %s %zu of %zu bytes (%.1f %%)", name, needed, allowed,
            100.0 * (double)needed / (double)allowed);
}

void report_budget(struct cli *cli)
{
    const struct budget *budget = &cli->driver->budget;

    if (!budget->ram && !budget->flash)
        return;
    say(cli, budget->fits ? "  fits   " : "  exceeds");
    report_memory(cli, "RAM", budget->ram, budget->ram_needed);
    say(cli, budget->ram && budget->flash ? "," : "");
    report_memory(cli, "flash", budget->flash, budget->flash_needed);
    say(cli, "\n");
}

static void add_memory(cJSON *json, const char *name, size_t allowed, size_t needed)
{
    cJSON *memory = allowed ? cJSON_AddObjectToObject(json, name) : NULL;

    if (!memory)
        return;
    cJSON_AddNumberToObject(memory, "allowed", (double)allowed);
    cJSON_AddNumberToObject(memory, "needed", (double)needed);
    cJSON_AddBoolToObject(memory, "fits", needed <= allowed);
}

void report_verdict(struct cli *cli)
{
    const struct budget *budget = &cli->driver->budget;
    cJSON *json, *list;

    if (!budget->is_judged || !cli->json)
        return;
    json = cJSON_AddObjectToObject(cli->json, "budget");
    add_memory(json, "ram", budget->ram, budget->ram_needed);
    add_memory(json, "flash", budget->flash, budget->flash_needed);
    if (budget->fits)
        return;
    list = cJSON_AddArrayToObject(json, "changes");
    for (int i = 0; i < budget->n_changes; i++) {
        const struct budget_change *change = &budget->changes[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddStringToObject(row, "option", change->option);
        cJSON_AddStringToObject(row, "value", change->value);
        cJSON_AddNumberToObject(row, "ram", (double)change->ram);
        cJSON_AddNumberToObject(row, "flash", (double)change->flash);
        cJSON_AddBoolToObject(row, "fits", change->fits);
        cJSON_AddItemToArray(list, row);
    }
}
