/* search_price.h - cost of a search proposal as generated C: bytes, and time by --latency-log. */
#ifndef DRIVER_COMMANDS_SEARCH_PRICE_H
#define DRIVER_COMMANDS_SEARCH_PRICE_H

#include "driver/driver.h"
#include "driver/commands/latency.h"
#include "search/strategies.h"

struct search_price {
    struct driver_state *driver;
    struct latency_log log; /* n = 0: none */
    /* Largest unmeasured share of an estimate. */
    double unknown_share;
};

/* Fills options from --flash, --ram, --latency and --latency-log; they point to *price, which must
 * stay in place. False after errors. */
bool search_price_prepare(struct driver_state *driver, struct search_price *price,
                          struct strategy_options *options);

#endif
