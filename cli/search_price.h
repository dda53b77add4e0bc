/* search_price.h - what a proposal of relayc search takes as generated C: bytes, and the time of
 * --latency-log. */
#ifndef CLI_SEARCH_PRICE_H
#define CLI_SEARCH_PRICE_H

#include "cli/cli.h"
#include "cli/latency.h"
#include "search/strategies.h"

struct search_price {
    struct cli *cli;
    struct latency_log log; /* n = 0: there is none */
    /* What the greatest part of an estimate was that nobody had measured. */
    double unknown_share;
};

/* --flash, --ram, --latency and --latency-log go into the options, which shall point to *price.
 * False after errors. */
bool search_price_prepare(struct cli *cli, struct search_price *price,
                          struct strategy_options *options);

#endif
