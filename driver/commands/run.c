/* run.c - see run.h. */
#include "driver/commands/run.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/precision.h"
#include "driver/sized_code.h"
#include "frontend/tensors/tensor_file.h"
#include "runtime/engine/engine.h"
#include "simulate/simulate.h"

enum executor { WITH_ENGINE, WITH_REFERENCE, WITH_GENERATED, WITH_SIMULATION };

static bool run_engine(struct driver_state *driver, struct function *fn,
                       const struct tensor *inputs, struct tensor *outputs)
{
    struct engine *engine = engine_new(driver->ctx, fn);
    const bool ok = engine && engine_run(engine, inputs, outputs, &driver->bulk, NULL);

    if (engine)
        engine_free(engine);
    return ok;
}

static bool run_generated(struct driver_state *driver, struct module *module,
                          const struct tensor *inputs, struct tensor *outputs)
{
    struct host_code code;
    bool ok = host_code_build(driver, module, true, &code) &&
              generated_begin(code.generated, inputs, outputs, &driver->bulk);

    /* Region by region, so that a message about a crash can name it. */
    for (int i = 0; ok && i < code.result.n_regions; i++)
        ok = generated_step(code.generated, i);
    host_code_free(&code);
    return ok;
}

/* --vary: the code for all sizes, at that of --shape. */
static bool run_sizes(struct driver_state *driver, struct module *module,
                      const struct tensor *inputs, struct tensor *outputs)
{
    struct sized_code code;
    bool ok = sized_code_build(driver, &code);
    const int chosen = ok ? sized_code_chosen(driver, &code) : -1;

    ok = chosen >= 0;
    if (ok) {
        generated_take_sizes(code.code.generated, module->main, sized_code_sizes(&code, chosen));
        ok = generated_run(code.code.generated, inputs, outputs, &driver->bulk);
    }
    sized_code_free(&code);
    return ok;
}

static bool execute(struct execution *e)
{
    struct driver_state *driver = e->driver;
    struct function *main = e->module->main;

    e->outputs = arena_array(&driver->ctx->perm, struct tensor, main->ret->n_inputs);
    switch ((enum executor)e->with) {
    case WITH_ENGINE: return run_engine(driver, main, e->inputs, e->outputs);
    case WITH_REFERENCE:
        return interpret(driver->ctx, main, e->inputs, e->outputs, &driver->bulk, NULL);
    case WITH_GENERATED:
        return variants_wanted(driver) ? run_sizes(driver, e->module, e->inputs, e->outputs)
                                       : run_generated(driver, e->module, e->inputs, e->outputs);
    case WITH_SIMULATION:
        return simulate(driver->ctx, main, NULL, e->inputs, e->outputs, &driver->bulk, NULL);
    }
    return false;
}

static int64_t count_nans(const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    int64_t nans = 0;

    for (int64_t i = 0; i < n; i++)
        nans += isnan(tensor_at(tensor, i)) != 0;
    return nans;
}

/* NaN in some places may stand for what is missing; nothing but NaN is a file that went wrong. */
static bool check_numbers(struct execution *e)
{
    const struct function *fn = e->module->main;
    bool ok = true;

    for (int i = 0; i < fn->n_params; i++) {
        const int64_t n = type_elements(&e->inputs[i].type);

        if (n && count_nans(&e->inputs[i]) == n)
            ok =
                diag_error(e->driver->ctx, DIAG_INPUT_MISMATCH, NULL,
                           "input '%s' is NaN in all its %lld elements",
                           str_safe(&e->driver->ctx->perm, fn->params[i]->name, 200), (long long)n);
    }
    return ok;
}

static void warn_of_nans(const struct execution *e)
{
    const struct function *fn = e->module->main;
    struct arena *arena = &e->driver->ctx->perm;

    for (int i = 0; i < fn->ret->n_inputs; i++) {
        const int64_t nans = count_nans(&e->outputs[i]);

        if (nans)
            driver_note(e->driver,
                        arena_printf(arena, "%lld of %lld elements of output '%s' are NaN",
                                     (long long)nans, (long long)type_elements(&e->outputs[i].type),
                                     str_safe(arena, fn->result_names[i], 200)));
    }
}

/* As many files as outputs? */
static bool check_output_files(struct execution *e)
{
    struct driver_state *driver = e->driver;
    const struct function *fn = e->module->main;
    const struct option_values *files = &driver->args.options[OPTION_OUTPUT];
    bool ok = files->n <= fn->ret->n_inputs;

    for (int i = 0; i < files->n; i++)
        if (!str_ends(files->at[i], ".npy") && !str_ends(files->at[i], ".npz"))
            diag_error(driver->ctx, DIAG_USAGE, NULL, "--output: '%s' is neither .npy nor .npz",
                       str_safe(&driver->ctx->perm, files->at[i], 200));
    if (!ok)
        diag_error(driver->ctx, DIAG_USAGE, NULL, "found %d files for the %d outputs of the model",
                   files->n, fn->ret->n_inputs);
    return driver->ctx->diags.n_errors == 0;
}

static bool write_outputs(struct execution *e)
{
    struct driver_state *driver = e->driver;
    const struct function *fn = e->module->main;
    const struct tensor *outputs = e->outputs;
    const struct option_values *files = &driver->args.options[OPTION_OUTPUT];
    struct named_tensors all = { .n = fn->ret->n_inputs };
    bool ok = true;

    warn_of_nans(e);
    all.at = arena_array(&driver->ctx->perm, struct named_tensor, all.n);
    for (int i = 0; i < all.n; i++)
        all.at[i] = (struct named_tensor){ fn->result_names[i], outputs[i] };
    for (int i = 0; i < files->n && ok; i++) {
        struct writer *writer = output_open(driver->outputs, files->at[i]);

        if (str_ends(files->at[i], ".npz"))
            ok = npz_write(driver->ctx, writer, &all);
        else
            npy_write(writer, &outputs[i]);
    }
    return ok && output_finish(driver->outputs);
}

/* --- the command ------------------------------------------------------------------------------ */

static bool check_options(struct execution *e)
{
    static const char *const executors[] = { "engine", "reference", "generated", "simulation",
                                             NULL };
    static const enum option_id of_generated[] = { OPTION_TARGET, OPTION_DETERMINISTIC,
                                                   OPTION_POOL };
    struct driver_state *driver = e->driver;
    bool ok =
        option_word(driver->ctx, &driver->args, OPTION_WITH, executors, WITH_ENGINE, &e->with);

    for (size_t i = 0; i < sizeof of_generated / sizeof *of_generated && ok; i++)
        if (e->with != WITH_GENERATED && has_option(&driver->args, of_generated[i]))
            ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                            "--%s has no effect without --with generated",
                            option_name(of_generated[i]));
    if (ok && e->with == WITH_SIMULATION && has_option(&driver->args, OPTION_OFFLOAD))
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--with simulation reproduces the host's C only: leave out --offload");
    ok = prepare_machine(driver) && ok;
    ok = prepare_pools(driver) && ok;
    ok = prepare_offload(driver) && ok;
    if (variants_wanted(driver) && driver->precision)
        driver->precision->options.any_shape = true; /* as for the code: one table for all sizes */
    return ok;
}

static bool load(struct execution *e)
{
    e->module = load_model(e->driver);
    return e->module != NULL;
}

static bool read_inputs(struct execution *e)
{
    const bool random = e->module->main->n_params && !has_option(&e->driver->args, OPTION_INPUT);

    if (!load_inputs(e->driver, e->module->main, &e->inputs))
        return false;
    if (random)
        driver_note(e->driver,
                    arena_printf(&e->driver->ctx->perm,
                                 "the inputs are random numbers of seed %s; --input gives others",
                                 option_text(&e->driver->args, OPTION_SEED, "1")));
    return check_numbers(e);
}

static bool simplify_to_fuse(struct execution *e)
{
    return run_passes(e->driver, e->module);
}

static bool convert_inputs(struct execution *e)
{
    return fit_inputs(e->driver, e->module->main, e->inputs);
}

bool driver_execute(struct driver_state *driver, struct execution *out)
{
    static bool (*const stages[])(struct execution *) = {
        check_options,      /* all options */
        load,               /* the model */
        check_output_files, /* before anything runs */
        read_inputs,        /* --input, or random numbers */
        simplify_to_fuse,   /* the stages of driver.c */
        convert_inputs,     /* --quantized-io */
        execute,            /* --with */
        write_outputs,      /* --output */
    };
    bool ok = true;

    *out = (struct execution){ .driver = driver };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

void driver_execution_free(struct execution *execution)
{
    module_free(execution->module);
}
