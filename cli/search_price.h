/* search_price.h - cost of a search proposal as generated C: bytes, and time by --latency-log. */
#ifndef CLI_SEARCH_PRICE_H
#define CLI_SEARCH_PRICE_H

#include "cli/cli.h"
#include "cli/latency.h"
#include "search/strategies.h"

struct search_price {
    struct cli *cli;
    struct latency_log log; /* n = 0: none */
    /* Largest unmeasured share of an estimate. */
    double unknown_share;
};

/* Fills options from --flash, --ram, --latency and --latency-log; they point to *price, which must
 * stay in place. False after errors. */
bool search_price_prepare(struct cli *cli, struct search_price *price,
                          struct strategy_options *options);

#endif
