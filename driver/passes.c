/* passes.c - the stages that are parts of the pass pipeline, and the list of all passes. */
#include <string.h>

#include "base/str.h"
#include "driver/graph_json.h"
#include "quantize/quantize.h"

/* Multiply-accumulates and elements up to which compile checks passes unasked: a MobileNetV2. */
#define CHECKED_UNASKED 4e8

/* NULL where nothing is to be checked. */
static struct validation *begin_validation(struct driver_state *driver, struct module *module)
{
    const struct arguments *args = &driver->args;
    const bool asked = has_option(args, OPTION_CHECK_PASSES) || args->command == COMMAND_VERIFY;
    const struct validation_options options = {
        .seed = 1,
        .limit = asked                     ? 0
                 : driver->check_limit > 0 ? driver->check_limit
                                           : CHECKED_UNASKED,
        .log = has_option(args, OPTION_TIME_PASSES) && asked ? driver->log : NULL,
    };

    if (has_option(args, OPTION_NO_CHECK_PASSES) || !(asked || args->command == COMMAND_COMPILE))
        return NULL;
    return validation_new(module, &options);
}

/* What was checked, and what could not be, for who asked. */
static void end_validation(struct driver_state *driver)
{
    struct validation *validation = driver->validation;

    if (validation && has_option(&driver->args, OPTION_CHECK_PASSES)) {
        if (validation_is_blind(validation))
            diag_warn(driver->ctx, DIAG_MEANING, NULL,
                      "--check-passes: the network cannot be evaluated on generated inputs, so no "
                      "pass was checked");
        else
            driver_say(driver, "passes  %d steps keep what the network computes\n",
                       validation_n_steps(validation));
    }
    validation_free(validation);
    driver->validation = NULL;
}

struct pipeline_options driver_pipeline_options(const struct driver_state *driver)
{
    return (struct pipeline_options){
        .dump_after = option_text(&driver->args, OPTION_DUMP_AFTER, NULL),
        .time_passes = has_option(&driver->args, OPTION_TIME_PASSES),
        .stats = has_option(&driver->args, OPTION_STATS),
        .keep_recurrent = precision_keeps_recurrent(driver),
        .log = driver->log,
        .validation = driver->validation,
    };
}

static bool run_part(struct driver_state *driver, enum pipeline_part part)
{
    struct pipeline_options options = driver_pipeline_options(driver);

    options.part = part;
    return pipeline_run(driver->module, &options);
}

bool stage_simplify(struct driver_state *driver)
{
    driver->validation = begin_validation(driver, driver->module);
    collect_for_precision(driver, driver->module);
    return run_part(driver, PIPELINE_PREPARE);
}

bool simplify_floats(const struct driver_state *driver, struct module *module, bool keep_recurrent)
{
    const struct pipeline_options options = { .part = PIPELINE_PREPARE,
                                              .keep_recurrent = keep_recurrent,
                                              .log = driver->log };

    return pipeline_run(module, &options);
}

bool fuse_floats(const struct driver_state *driver, struct module *module)
{
    const struct pipeline_options options = { .part = PIPELINE_FUSE, .log = driver->log };

    return pipeline_run(module, &options);
}

bool stage_layout(struct driver_state *driver)
{
    return run_part(driver, PIPELINE_LAYOUT);
}

bool stage_fuse(struct driver_state *driver)
{
    if (!run_part(driver, PIPELINE_REGIONS) || !check_graph_regions(driver, driver->module) ||
        (driver->validation && !validation_end(driver->validation, driver->module)))
        return false;
    note_offload(driver, driver->module);
    end_validation(driver);
    driver->codegen.numbers = chosen_numbers(driver);
    driver->codegen.targets = driver_codegen_options(driver).targets; /* a graph may bring some */
    return true;
}

static void list_quantize(struct listed_pass *list, int *n)
{
    for (int i = 0; quantize_step(i); i++)
        list[(*n)++] =
            (struct listed_pass){ quantize_step(i)->name, quantize_step(i)->purpose, "precision" };
}

struct listed_pass *list_all_passes(struct arena *arena, int *n)
{
    int n_passes, n_steps, n_quantize = 0;
    const struct pass *passes = pipeline_passes(&n_passes);
    const struct partition_pass *steps = partition_passes(&n_steps);
    struct listed_pass *list;

    while (quantize_step(n_quantize))
        n_quantize++;
    list = arena_array(arena, struct listed_pass, n_passes + n_steps + n_quantize);
    *n = 0;
    for (int i = 0; i < n_passes; i++) {
        if (i == n_passes - PIPELINE_N_FUSE) {
            list_quantize(list, n);
            for (int j = 0; j < n_steps; j++)
                list[(*n)++] = (struct listed_pass){ steps[j].name, steps[j].purpose, "offload" };
        }
        list[(*n)++] = (struct listed_pass){ passes[i].name, passes[i].purpose, NULL };
    }
    return list;
}

static bool check_dump_of(struct driver_state *driver, const struct listed_pass *pass)
{
    if (!pass->option || has_option(&driver->args, OPTION_OFFLOAD) ||
        has_option(&driver->args, OPTION_PRECISION) || has_option(&driver->args, OPTION_QTABLE))
        return true;
    return diag_error(driver->ctx, DIAG_USAGE, NULL, "--dump-after: '%s' does not run without --%s",
                      pass->name, pass->option);
}

bool check_dump_option(struct driver_state *driver)
{
    const char *wanted = option_text(&driver->args, OPTION_DUMP_AFTER, "all");
    int n;
    const struct listed_pass *passes = list_all_passes(&driver->ctx->perm, &n);
    const char **names = arena_array(&driver->ctx->perm, const char *, n);
    const char *nearest;

    for (int i = 0; i < n; i++) {
        names[i] = passes[i].name;
        if (strcmp(names[i], wanted) == 0)
            return check_dump_of(driver, &passes[i]);
    }
    if (strcmp(wanted, "all") == 0)
        return true;
    diag_error(driver->ctx, DIAG_USAGE, NULL, "--dump-after: unknown pass '%s'",
               str_safe(&driver->ctx->perm, wanted, 80));
    nearest = str_nearest(wanted, names, (size_t)n);
    if (nearest)
        diag_help(driver->ctx, "did you mean '%s'?", nearest);
    else
        diag_help(driver->ctx, "--passes lists them");
    return false;
}
