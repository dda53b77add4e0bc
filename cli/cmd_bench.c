/* cmd_bench.c - relayc bench: see bench_report.c. */
#include "cli/bench_report.h"
#include "cli/cli.h"

bool command_bench(struct cli *cli)
{
    struct bench bench;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_bench(cli->driver, &bench);
    if (ok)
        bench_report(cli, &bench);
    driver_bench_free(&bench);
    return ok;
}
