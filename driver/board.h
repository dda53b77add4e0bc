/* board.h - the memories of a board, from a JSON file: boards/README.md. */
#ifndef DRIVER_BOARD_H
#define DRIVER_BOARD_H

#include "driver/driver.h"

struct board_pool {
    const char *name;
    size_t bytes;
    bool is_flash;
    enum pool_speed speed;
    const char *section; /* linker section; NULL = default */
};

struct board {
    const char *name, *chip, *source;
    const struct machine *machine;
    double clock_mhz;
    int n_pools;
    struct board_pool *pools;
};

/* Loads a built-in board by name, or a board file (name ends in .json). NULL after errors. */
const struct board *board_read(struct ctx *ctx, const char *name);

/* Largest pool of RAM, or of flash; NULL if there is none. */
const struct board_pool *board_greatest(const struct board *board, bool flash);

/* Name of the i-th embedded file (base/embedded.h) if it is a board; else NULL. */
const char *board_shipped(struct arena *arena, size_t i);

#endif
