/* cmd_verify.c - relayc verify: see verify_report.c. */
#include "cli/cli.h"
#include "cli/verify_report.h"

bool command_verify(struct cli *cli)
{
    struct verification v;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_verify(cli->driver, &v) && verify_report(cli, &v);
    driver_verify_free(&v);
    return ok;
}
