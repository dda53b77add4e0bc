#include "driver/driver.h"

#include <stdarg.h>

#include "base/str.h"

static bool measures(const struct driver_state *driver)
{
    return driver->emit.c && has_option(&driver->args, OPTION_CC);
}

static bool has_budget(const struct driver_state *driver)
{
    return driver->emit.c && (driver->budget.ram || driver->budget.flash);
}

static bool emits_graph(const struct driver_state *driver)
{
    return driver->emit.json;
}

static bool emits_code(const struct driver_state *driver)
{
    return driver->emit.c;
}

/* The whole compiler. */
static const struct {
    const char *name;
    bool (*run)(struct driver_state *driver);          /* on driver->module; false after an error */
    bool (*wanted)(const struct driver_state *driver); /* NULL: always */
    const char *doing;
} stages[STAGE_COUNT] = {
    [STAGE_LOAD] = { "load", stage_load, NULL, "reading the model" },
    [STAGE_DESCRIBE] = { "describe", stage_describe, emits_code, "describing the model" },
    [STAGE_SIMPLIFY] = { "simplify", stage_simplify, NULL, "simplifying the graph" },
    [STAGE_QUANTIZE] = { "quantize", stage_quantize, precision_wanted, "quantising" },
    [STAGE_PARTITION] = { "partition", stage_partition, offload_wanted, "choosing backends" },
    [STAGE_LAYOUT] = { "layout", stage_layout, NULL, "choosing layouts" },
    [STAGE_FUSE] = { "fuse", stage_fuse, NULL, "fusing operators" },
    [STAGE_GRAPH] = { "graph", stage_graph, emits_graph, "writing the graph" },
    [STAGE_MEASURE] = { "measure", stage_measure, measures, "measuring the code" },
    [STAGE_PLAN] = { "plan", stage_plan, emits_code,
                     "planning code and memory" }, /* and select: codegen_c/plan/plan_once.c */
    [STAGE_BUDGET] = { "budget", stage_budget, has_budget, "judging the budget" },
    [STAGE_PRINT] = { "print", stage_print, emits_code, "writing the C" },
};

const char *stage_name(enum driver_stage stage)
{
    return stages[stage].name;
}

/* What lives from stage to stage beside the module. */
static void drop_unfinished(struct driver_state *driver)
{
    validation_free(driver->validation);
    driver->validation = NULL;
    codegen_free(driver->code);
    driver->code = NULL;
}

bool driver_run(struct driver_state *driver, enum driver_stage last)
{
    bool ok = true;

    for (; ok && driver->next <= last; driver->next++)
        if (!stages[driver->next].wanted || stages[driver->next].wanted(driver)) {
            driver_begins(driver, stages[driver->next].doing);
            ok = stages[driver->next].run(driver);
        }
    if (!ok)
        drop_unfinished(driver);
    return ok;
}

bool run_passes(struct driver_state *driver, struct module *module)
{
    driver->module = module;
    driver->next = STAGE_SIMPLIFY;
    return driver_run(driver, STAGE_FUSE);
}

struct driver_state driver_begin(struct ctx *ctx, enum command command)
{
    const char **operand = arena_new(&ctx->perm, const char *);

    *operand = "-"; /* nothing that could be read again */
    return (struct driver_state){
        .ctx = ctx,
        .args = { .command = command, .n_operands = 1, .operands = operand },
        .log = stderr,
    };
}

void driver_give(struct driver_state *driver, enum option_id option, const char *value)
{
    option_add(driver->ctx, &driver->args.options[option], value);
}

void driver_take(struct driver_state *driver, struct module *module)
{
    driver->module = module;
    driver->is_json_graph = module_has_foreign_regions(module);
    driver->next = STAGE_SIMPLIFY;
}

void driver_free(struct driver_state *driver)
{
    drop_unfinished(driver);
    variants_free(driver);
    partition_free(driver->offload.partition);
    driver->offload.partition = NULL;
    bulk_release(&driver->bulk);
}

/* --- events ----------------------------------------------------------------------------------- */

void driver_note(const struct driver_state *driver, const char *text)
{
    if (driver->events && driver->events->note)
        driver->events->note(driver->events->user, text);
}

void driver_say(const struct driver_state *driver, const char *format, ...)
{
    va_list args;

    if (!driver->events || !driver->events->say)
        return;
    va_start(args, format);
    driver->events->say(driver->events->user, arena_vprintf(&driver->ctx->perm, format, args));
    va_end(args);
}

void driver_progress(const struct driver_state *driver, const char *what, int64_t done, int64_t n)
{
    if (driver->events && driver->events->progress)
        driver->events->progress(driver->events->user, what, done, n);
}

void driver_begins(const struct driver_state *driver, const char *what)
{
    if (driver->events && driver->events->begin)
        driver->events->begin(driver->events->user, what);
}
