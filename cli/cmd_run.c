/* cmd_run.c - relayc run: a line for each output. */
#include "base/str.h"
#include "cli/cli.h"
#include "driver/commands/run.h"

enum { SHOWN = 6 }; /* numbers of each output */

static cJSON *output_json(struct cli *cli, const char *name, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    cJSON *row = cJSON_CreateObject(), *shape, *numbers;

    cJSON_AddStringToObject(row, "name", str_safe(&cli->ctx->perm, name, 4096));
    cJSON_AddStringToObject(row, "dtype", dtype_name(tensor->type.dtype));
    shape = cJSON_AddArrayToObject(row, "shape");
    for (int i = 0; i < tensor->type.rank; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)tensor->type.dim[i]));
    numbers = cJSON_AddArrayToObject(row, "first");
    for (int64_t i = 0; i < n && i < SHOWN; i++)
        cJSON_AddItemToArray(numbers, cJSON_CreateNumber(tensor_at(tensor, i)));
    return row;
}

/* A line per output: its type and its first numbers. */
static void show(struct cli *cli, const struct function *fn, const struct tensor *outputs)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "outputs") : NULL;

    for (int i = 0; i < fn->ret->n_inputs; i++) {
        const int64_t n = type_elements(&outputs[i].type);

        say(cli, "%s %s =", str_safe(&cli->ctx->perm, fn->result_names[i], 100),
            type_text(&cli->ctx->perm, &outputs[i].type));
        for (int64_t j = 0; j < n && j < SHOWN; j++)
            say(cli, " %.6g", tensor_at(&outputs[i], j));
        say(cli, n > SHOWN ? " ...\n" : "\n");
        if (list)
            cJSON_AddItemToArray(list, output_json(cli, fn->result_names[i], &outputs[i]));
    }
}

/* As compile does. */
static void show_files(struct cli *cli)
{
    const struct option_values *files = &cli->driver->args.options[OPTION_OUTPUT];
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "files") : NULL;

    for (int i = 0; i < files->n; i++) {
        say(cli, "%s%s", i ? ", " : "  wrote   ", files->at[i]);
        if (list)
            cJSON_AddItemToArray(list, cJSON_CreateString(files->at[i]));
    }
    say(cli, files->n ? "\n" : "");
}

bool command_run(struct cli *cli)
{
    struct execution execution;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_execute(cli->driver, &execution);
    if (ok) {
        show(cli, execution.module->main, execution.outputs);
        show_files(cli);
    }
    driver_execution_free(&execution);
    return ok;
}
