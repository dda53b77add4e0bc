/* share_arena.c - report of compile A.onnx B.onnx --share-arena, --shared-kernels. */
#include "cli/compile.h"
#include "cli/report.h"
#include "driver/commands/share_arena.h"

static void report_kernels(struct cli *cli, const struct shared_arena *shared)
{
    const struct kernels_result *kernels = &shared->kernels;
    cJSON *list;

    if (!kernels->n)
        say(cli, "%d networks have no functions in common: each NAME.c has its own\n", shared->n);
    else
        say(cli, "%d networks share %d functions, %d of them compiled once: %s, %s\n", shared->n,
            kernels->n, kernels->n_functions, kernels->files[0], kernels->files[1]);
    if (!cli->json)
        return;
    cJSON_AddNumberToObject(cli->json, "shared_functions", kernels->n);
    cJSON_AddNumberToObject(cli->json, "functions_compiled_once", kernels->n_functions);
    list = cJSON_AddArrayToObject(cli->json, "files");
    for (int i = 0; i < 2 && kernels->files[i]; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(kernels->files[i]));
}

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
    if (ok && shared.header)
        report_shared(cli, &shared);
    if (ok && has_option(&cli->driver->args, OPTION_SHARED_KERNELS))
        report_kernels(cli, &shared);
    driver_shared_free(&shared);
    return ok && shared.fits;
}
