/* compile.h - compile, model by model: one, or several that share an arena. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "cli/cli.h"

/* The first operand, as the options say; its files are begun in cli->outputs. False after errors.
 */
bool compile_model(struct cli *cli);

/* share_arena.c: all operands, and shared_arena.h. */
bool compile_shared(struct cli *cli);

#endif
