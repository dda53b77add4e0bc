/* budget.h - compile --ram, --flash, --board: whether the network fits, and what would make it. */
#ifndef CLI_BUDGET_H
#define CLI_BUDGET_H

#include "cli/board.h"

struct budget {
    size_t ram, flash;                     /* bytes; 0 = no limit */
    const char *ram_source, *flash_source; /* "--ram", "the pool axi of nucleo-h743zi" */
};

/* Reads the options, and cli->board; before prepare_machine. False after errors. */
bool prepare_budget(struct cli *cli, struct budget *out);

/* --pool (pools.c): how much of each is taken, and the options again. */
void repeat_pools(struct cli *cli);
void report_pools(struct cli *cli, const struct codegen_options *options,
                  const struct codegen_result *result);

/* `--board help` lists the boards: then there is nothing else to do. */
bool show_boards_wanted(struct cli *cli);

/* False after errors, one for each memory that is too small. They say what is alive at the
 * peak, and what --winograd off or another --precision would need: the model is read again for
 * each. */
bool check_budget(struct cli *cli, const struct budget *budget,
                  const struct codegen_options *options, const struct codegen_result *result);

/* How much of each is taken; nothing without a budget. */
void report_budget(struct cli *cli, const struct budget *budget,
                   const struct codegen_options *options, const struct codegen_result *result);

#endif
