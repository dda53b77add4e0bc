/* inspect.c - see inspect.h. */
#include "driver/commands/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/import.h"
#include "relay_ir/text.h"

bool driver_inspect(struct driver_state *driver)
{
    bool ok = check_dump_option(driver);

    ok = prepare_offload(driver) && ok;
    driver->module = ok ? load_model(driver) : NULL;
    if (!driver->module)
        return false;
    module_sweep(driver->module);
    return true;
}

bool driver_inspect_passes(struct driver_state *driver)
{
    static const enum option_id of_passes[] = { OPTION_DUMP_AFTER, OPTION_TIME_PASSES,
                                                OPTION_STATS };

    for (size_t i = 0; i < sizeof of_passes / sizeof *of_passes; i++)
        if (has_option(&driver->args, of_passes[i]))
            return run_passes(driver, driver->module);
    return true;
}

/* --- --preflight ------------------------------------------------------------------------------ */

/* Errors of an import whose open dims have this length. */
static int try_length(struct driver_state *driver, int64_t length)
{
    struct import_obstacles trial = { .open_length = length };
    const struct diags saved = diag_save(driver->ctx);
    int n;

    driver->obstacles = &trial;
    module_free(load_model(driver));
    n = driver->ctx->diags.n_errors;
    diag_restore(driver->ctx, saved);
    return trial.n_open ? n : -1;
}

/* The length of open dims with the fewest errors; text and pictures have others. A pipe can be read
 * once only. */
static int64_t choose_length(struct driver_state *driver)
{
    static const int64_t lengths[] = { 64, 224, 16, 640, 7 };
    int64_t best = lengths[0];
    int fewest = 0;

    if (strcmp(driver->args.operands[0], "-") == 0)
        return best;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int n = try_length(driver, lengths[i]);

        if (n < 0)
            return best;
        if (i == 0 || n < fewest) {
            fewest = n;
            best = lengths[i];
        }
    }
    return best;
}

bool driver_preflight(struct driver_state *driver, struct import_obstacles *found)
{
    bool ok;

    if (!driver_prepare(driver))
        return false;
    *found = (struct import_obstacles){ .open_length = choose_length(driver) };
    driver->obstacles = found;
    /* The stages behind the import run if it has a module: open dims have a length there. */
    ok = driver_run(driver, STAGE_BUDGET);
    codegen_free(driver->code); /* it needs the module, which the caller frees */
    driver->code = NULL;
    return ok && !driver->ctx->diags.n_errors;
}

const char *driver_module_text(struct driver_state *driver)
{
    struct str text = { .arena = &driver->ctx->perm };

    module_print(driver->module, &text);
    return str_text(&text);
}

static int by_domain_and_name(const void *a, const void *b)
{
    const struct known_operator *x = a, *y = b;
    const int order = strcmp(x->domain, y->domain);

    return order ? order : strcmp(x->name, y->name);
}

const struct known_operator *driver_onnx_operators(struct driver_state *driver, int *n)
{
    const struct onnx_operator *all = onnx_operators(n);
    struct known_operator *sorted = arena_array(&driver->ctx->perm, struct known_operator, *n);

    for (int i = 0; i < *n; i++)
        sorted[i] = (struct known_operator){ all[i].domain, all[i].name, all[i].first_opset,
                                             all[i].last_opset };
    qsort(sorted, (size_t)*n, sizeof *sorted, by_domain_and_name);
    return sorted;
}
