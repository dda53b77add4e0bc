/* cmd_run.c - executes a model on this machine: tensors in, tensors out. */
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/cli.h"
#include "driver/host_code.h"
#include "frontend/tensors/tensor_file.h"
#include "runtime/engine/engine.h"
#include "simulate/simulate.h"

enum executor { WITH_ENGINE, WITH_REFERENCE, WITH_GENERATED, WITH_SIMULATION };

static bool run_engine(struct cli *cli, struct function *fn, const struct tensor *inputs,
                       struct tensor *outputs)
{
    struct engine *engine = engine_new(cli->ctx, fn);
    const bool ok = engine && engine_run(engine, inputs, outputs, &cli->driver->bulk, NULL);

    if (engine)
        engine_free(engine);
    return ok;
}

static bool run_generated(struct cli *cli, struct module *module, const struct tensor *inputs,
                          struct tensor *outputs)
{
    struct host_code code;
    bool ok = host_code_build(cli->driver, module, true, &code) &&
              generated_begin(code.generated, inputs, outputs, &cli->driver->bulk);

    /* Region by region, so that a message about a crash can name it. */
    for (int i = 0; ok && i < code.result.n_regions; i++)
        ok = generated_step(code.generated, i);
    host_code_free(&code);
    return ok;
}

static bool execute(struct cli *cli, struct module *module, enum executor with,
                    const struct tensor *inputs, struct tensor *outputs)
{
    switch (with) {
    case WITH_ENGINE: return run_engine(cli, module->main, inputs, outputs);
    case WITH_REFERENCE:
        return interpret(cli->ctx, module->main, inputs, outputs, &cli->driver->bulk, NULL);
    case WITH_GENERATED: return run_generated(cli, module, inputs, outputs);
    case WITH_SIMULATION:
        return simulate(cli->ctx, module->main, NULL, inputs, outputs, &cli->driver->bulk, NULL);
    }
    return false;
}

/* Before anything runs: are there as many files as outputs? */
static bool check_output_files(struct cli *cli, const struct function *fn)
{
    const struct option_values *files = &cli->driver->args.options[OPTION_OUTPUT];
    bool ok = files->n <= fn->ret->n_inputs;

    for (int i = 0; i < files->n; i++)
        if (!str_ends(files->at[i], ".npy") && !str_ends(files->at[i], ".npz"))
            diag_error(cli->ctx, DIAG_USAGE, NULL, "--output: '%s' is neither .npy nor .npz",
                       str_safe(&cli->ctx->perm, files->at[i], 200));
    if (!ok)
        diag_error(cli->ctx, DIAG_USAGE, NULL, "found %d files for the %d outputs of the model",
                   files->n, fn->ret->n_inputs);
    return cli->ctx->diags.n_errors == 0;
}

static bool write_outputs(struct cli *cli, const struct function *fn, const struct tensor *outputs)
{
    const struct option_values *files = &cli->driver->args.options[OPTION_OUTPUT];
    struct named_tensors all = { .n = fn->ret->n_inputs };
    bool ok = true;

    all.at = arena_array(&cli->ctx->perm, struct named_tensor, all.n);
    for (int i = 0; i < all.n; i++)
        all.at[i] = (struct named_tensor){ fn->result_names[i], outputs[i] };
    for (int i = 0; i < files->n && ok; i++) {
        struct writer *writer = output_open(cli->outputs, files->at[i]);

        if (str_ends(files->at[i], ".npz"))
            ok = npz_write(cli->ctx, writer, &all);
        else
            npy_write(writer, &outputs[i]);
    }
    return ok && output_finish(cli->outputs);
}

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

bool command_run(struct cli *cli)
{
    static const char *const executors[] = { "engine", "reference", "generated", "simulation",
                                             NULL };
    struct tensor *inputs, *outputs;
    struct module *module;
    int with;
    bool ok;

    ok = option_word(cli->ctx, &cli->driver->args, OPTION_WITH, executors, WITH_ENGINE, &with);
    if (show_machines_wanted(cli))
        return true;
    if (ok && with != WITH_GENERATED && has_option(&cli->driver->args, OPTION_TARGET))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--target has no effect without --with generated");
    if (ok && with != WITH_GENERATED && has_option(&cli->driver->args, OPTION_DETERMINISTIC))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--deterministic has no effect without --with generated");
    if (ok && with != WITH_GENERATED && has_option(&cli->driver->args, OPTION_POOL))
        ok =
            diag_error(cli->ctx, DIAG_USAGE, NULL, "--pool has no effect without --with generated");
    if (ok && with == WITH_SIMULATION && has_option(&cli->driver->args, OPTION_OFFLOAD))
        ok = diag_error(cli->ctx, DIAG_USAGE, NULL,
                        "--with simulation reproduces the host's C only: leave out --offload");
    ok = prepare_machine(cli->driver) && ok;
    ok = prepare_pools(cli->driver) && ok;
    if (!prepare_offload(cli->driver) || !ok)
        return false;
    module = load_model(cli->driver);
    ok = module && check_output_files(cli, module->main) &&
         load_inputs(cli->driver, module->main, &inputs) && run_passes(cli->driver, module) &&
         fit_inputs(cli->driver, module->main, inputs);
    if (ok) {
        outputs = arena_array(&cli->ctx->perm, struct tensor, module->main->ret->n_inputs);
        ok = execute(cli, module, (enum executor)with, inputs, outputs) &&
             write_outputs(cli, module->main, outputs);
        if (ok)
            show(cli, module->main, outputs);
    }
    module_free(module);
    return ok;
}
