/* compile.h - compile: one model, or several that share something. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include "cli/cli.h"

/* share_arena.c: all operands, with --share-arena or --shared-kernels. */
bool compile_shared(struct cli *cli);

#endif
