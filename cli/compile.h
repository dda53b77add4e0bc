/* compile.h - compile: one model, or several that share an arena. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "cli/cli.h"

/* Compiles the first operand; its files are added to cli->outputs. False after errors. */
bool compile_model(struct cli *cli);

/* share_arena.c: compiles all operands, and writes shared_arena.h. */
bool compile_shared(struct cli *cli);

#endif
