/* options.h - command line parser, from the tables of driver/options.h. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "driver/options.h"

/* False after USAGE errors; all are reported. */
bool arguments_parse(struct ctx *ctx, int argc, char **argv, struct arguments *out);

#endif
