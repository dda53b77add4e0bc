/* compile.h - compile: one model, or several that share an arena. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "cli/cli.h"

/* share_arena.c: all operands, with --share-arena. */
bool compile_shared(struct cli *cli);

#endif
