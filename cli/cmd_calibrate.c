/* cmd_calibrate.c - relayc calibrate: what was written. */
#include "base/str.h"
#include "cli/cli.h"
#include "driver/commands/calibrate.h"

static void report(struct cli *cli, const struct calibration *calibration)
{
    const struct calib_table *table = &calibration->table;
    const char *output = str_safe(&cli->ctx->perm, calibration->output, 4096);

    say(cli, "%s: %d tensor%s, %lld sample%s\n", output, table->n, str_plural(table->n),
        (long long)table->n_samples, str_plural(table->n_samples));
    if (!cli->json)
        return;
    cJSON_AddStringToObject(cli->json, "output", output);
    cJSON_AddNumberToObject(cli->json, "tensors", table->n);
    cJSON_AddNumberToObject(cli->json, "samples", (double)table->n_samples);
}

bool command_calibrate(struct cli *cli)
{
    struct calibration calibration;
    const bool ok = driver_calibrate(cli->driver, &calibration);

    if (ok)
        report(cli, &calibration);
    return ok;
}
