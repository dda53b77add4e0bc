/* search_report.h - what relayc search tells of what it has found. */
#ifndef CLI_SEARCH_REPORT_H
#define CLI_SEARCH_REPORT_H

#include "cli/cli.h"
#include "search/strategies.h"

struct search_report {
    struct cli *cli;
    const char *strategy, *prefix;
    const struct strategy_options *options;
    double unknown_share; /* of the times, see search_price.h */
};

/* PREFIX.qtable, PREFIX.calib.json where there is a table, and PREFIX.log. */
bool search_write_files(const struct search_report *r, const struct search *search,
                        const struct found *found);

/* On standard output, or into --json. */
void search_say(const struct search_report *r, const struct search *search,
                const struct found *found);

#endif
