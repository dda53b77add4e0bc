/* search_report.h - report of relayc search. */
#ifndef CLI_SEARCH_REPORT_H
#define CLI_SEARCH_REPORT_H

#include "cli/cli.h"
#include "driver/commands/search.h"

/* Prints the result, or adds it to --json. */
void search_say(struct cli *cli, const struct precision_search *search);

#endif
