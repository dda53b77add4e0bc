/* search.h - relayc search: which precision each layer needs. */
#ifndef DRIVER_COMMANDS_SEARCH_H
#define DRIVER_COMMANDS_SEARCH_H

#include "driver/commands/search_judge.h"
#include "driver/commands/search_price.h"

struct precision_search {
    struct driver_state *driver;
    const char *strategy; /* --strategy */
    int strategy_index;
    const char *prefix; /* -o: of the files written */
    struct strategy_options options;
    struct search_options search_options;
    int rank, n_ranks;          /* among processes that share the work */
    struct search_judge *judge; /* --metric; NULL without it */
    struct search_price price;
    struct module *module;
    struct search search;
    bool is_open;
    struct found found;
};

/* Searches, and writes PREFIX.qtable, .calib.json and .log to driver->outputs (rank 0). False after
 * an error. Call driver_search_free in any case. *out must not move before. */
bool driver_search(struct driver_state *driver, struct precision_search *out);
void driver_search_free(struct precision_search *search);

/* search_files.c: PREFIX.qtable, PREFIX.calib.json if there is a table, and PREFIX.log. */
bool search_write_files(struct precision_search *r);

#endif
