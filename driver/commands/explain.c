/* explain.c - see explain.h. */
#include "driver/commands/explain.h"

#include "base/str.h"
#include "partition/explain.h"
#include "partition/pattern.h"

static bool check_options(struct driver_state *driver)
{
    if (!offload_wanted(driver)) {
        diag_error(driver->ctx, DIAG_USAGE, NULL, "--explain needs targets");
        diag_help(driver->ctx, "--offload names them, `relayc targets` lists them");
        return false;
    }
    if (driver->args.n_operands > 0)
        return diag_error(driver->ctx, DIAG_USAGE, NULL,
                          "--explain takes the model; unexpected operand '%s'",
                          str_safe(&driver->ctx->perm, driver->args.operands[0], 80));
    return true;
}

static bool is_quantised(enum op op)
{
    return str_starts(op_name(op), "qnn.");
}

static bool mentions_quantised(const struct pattern *pattern)
{
    for (int op = 0; op < OP_COUNT; op++)
        if (is_quantised((enum op)op) && pattern_mentions(pattern, (enum op)op))
            return true;
    return false;
}

/* A backend of integers, such as cmsis_nn, has nothing to say about a graph of floats but this. */
static void note_integers_only(const struct driver_state *driver, const struct explanation *of)
{
    bool any = false;

    for (int i = 0; i < of->n_nodes; i++)
        any = any || is_quantised(of->nodes[i].op);
    for (int t = 0; t < of->n_targets && !any; t++) {
        const struct target *target = of->targets[t];
        bool only = target->n_rows > 0;

        for (int i = 0; i < target->n_rows && only; i++)
            only = mentions_quantised(target->rows[i].pattern);
        if (only)
            driver_note(
                driver,
                arena_printf(&driver->ctx->perm,
                             "%s takes quantised operators only, and this graph has none: give "
                             "--precision int8 with --data or --calib, or a quantised model",
                             target->name));
    }
}

static bool choose(struct driver_state *driver)
{
    const struct pipeline_options until = { .stop_after = "cost" };
    struct module *module = driver->module;

    collect_for_precision(driver, module);
    if (!simplify_floats(driver, module, false) ||
        (precision_wanted(driver) && !stage_quantize(driver)))
        return false;
    driver->offload.partition = partition_new(module, &driver->offload.options);
    if (!partition_run(driver->offload.partition, &until))
        return false;
    partition_explain(driver->offload.partition);
    note_integers_only(driver, driver->offload.partition->explanation);
    return true;
}

bool driver_explain(struct driver_state *driver)
{
    const char *model = option_text(&driver->args, OPTION_EXPLAIN, NULL);
    const char **operands = driver->args.operands;
    bool ok = check_options(driver);

    if (!ok)
        return false;
    driver->args.operands = &model; /* what load_model reads */
    driver->args.n_operands = 1;
    driver->module = load_model(driver);
    ok = driver->module && choose(driver);
    driver->args.operands = operands;
    driver->args.n_operands = 0;
    return ok;
}
