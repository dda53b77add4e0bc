/* cmd_search.c - relayc search: see search_report.c. Of several processes the first one reports. */
#include "cli/cli.h"
#include "cli/search_report.h"

bool command_search(struct cli *cli)
{
    struct precision_search search;
    const bool ok = driver_search(cli->driver, &search);

    if (ok && search.rank == 0)
        search_say(cli, &search);
    driver_search_free(&search);
    return ok;
}
