/* share_arena.c - report of compile A.onnx B.onnx --share-arena. */
#include "cli/compile.h"
#include "cli/report.h"
#include "driver/commands/share_arena.h"

static void report_shared(struct cli *cli, const struct shared_arena *shared)
{
    say(cli, "%d networks share an arena of %zu bytes (each one of its own: %zu): %s\n", shared->n,
        shared->bytes, shared->separate_bytes, shared->header);
    if (cli->json) {
        cJSON_AddNumberToObject(cli->json, "shared_arena_bytes", (double)shared->bytes);
        cJSON_AddNumberToObject(cli->json, "separate_arena_bytes", (double)shared->separate_bytes);
    }
}

/* Model i alone; its diagnostics and files are those of the command. */
static struct cli command_of(const struct cli *cli, struct driver_state *driver, cJSON *list)
{
    struct cli own = *cli;

    own.driver = driver;
    if (list) {
        own.json = cJSON_CreateObject();
        cJSON_AddItemToArray(list, own.json);
    }
    return own;
}

bool compile_shared(struct cli *cli)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "models") : NULL;
    struct shared_arena shared;
    const bool ok = driver_compile_shared(cli->driver, &shared);

    for (int i = 0; i < shared.n; i++) {
        struct cli own = command_of(cli, &shared.all[i], list);

        report_verdict(&own);
        if (ok)
            report_compilation(&own);
    }
    if (ok)
        report_shared(cli, &shared);
    driver_shared_free(&shared);
    return ok && shared.fits;
}
