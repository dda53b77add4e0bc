/* board.h - the memories of a board, from a JSON file: boards/README.md. */
#ifndef CLI_BOARD_H
#define CLI_BOARD_H

#include "cli/cli.h"

struct board_pool {
    const char *name;
    size_t bytes;
    bool is_flash;
    enum pool_speed speed;
    const char *section; /* of the linker script; NULL = the usual one */
};

struct board {
    const char *name, *chip, *source;
    const struct machine *machine;
    double clock_mhz;
    int n_pools;
    struct board_pool *pools;
};

/* The board that ships under this name, or that the file (its name ends in .json) describes. NULL
 * after errors. */
const struct board *board_read(struct ctx *ctx, const char *name);

/* The greatest pool of RAM, or of flash; NULL if there is none. */
const struct board_pool *board_greatest(const struct board *board, bool flash);

/* Those that ship, as a table or in --json. False after an error. */
bool list_boards(struct cli *cli);

#endif
