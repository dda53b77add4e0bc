/* search_report.h - report of relayc search. */
#ifndef CLI_SEARCH_REPORT_H
#define CLI_SEARCH_REPORT_H

#include "cli/cli.h"
#include "search/strategies.h"

struct search_report {
    struct cli *cli;
    const char *strategy, *prefix;
    const struct strategy_options *options;
    double unknown_share; /* see search_price.h */
};

/* Writes PREFIX.qtable, PREFIX.calib.json if there is a table, and PREFIX.log. */
bool search_write_files(const struct search_report *r, const struct search *search,
                        const struct found *found);

/* Prints the result, or adds it to --json. */
void search_say(const struct search_report *r, const struct search *search,
                const struct found *found);

#endif
