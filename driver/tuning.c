/* tuning.c - --tune-log: choices that relayc tune found, for compile, bench, run and verify. */
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "driver/driver.h"
#include "tune/log.h"

/* Trials of other CPUs only? */
static bool is_for_others(const struct tune_log *log, const char *target)
{
    for (int i = 0; i < log->n; i++)
        if (strcmp(log->at[i].key.target, target) == 0)
            return false;
    return log->n > 0;
}

bool prepare_tuning(struct driver_state *driver)
{
    const struct option_values *files = &driver->args.options[OPTION_TUNE_LOG];
    struct tune_log log = { .n = 0 };
    struct choices *choices = arena_new(&driver->ctx->perm, struct choices);
    bool ok = true;

    for (int i = 0; i < files->n; i++)
        ok = tune_log_read(driver->ctx, files->at[i], &log) && ok;
    if (!ok || files->n == 0)
        return ok;
    *choices = tune_log_best(driver->ctx, &log, driver->machine->name);
    driver->choices = choices;
    if (is_for_others(&log, driver->machine->name)) {
        diag_warn(driver->ctx, DIAG_TUNE_STALE, NULL, "the tuning log has no trial for --target %s",
                  driver->machine->name);
        diag_help(driver->ctx, "use the --target of relayc tune (default: host)");
    }
    return true;
}
