/* options.h - command line parser and --help, from the tables of driver/options.h. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdio.h>

#include "driver/options.h"

/* False after USAGE errors; all are reported. */
bool arguments_parse(struct ctx *ctx, int argc, char **argv, struct arguments *out);

void print_overview(FILE *out); /* relayc without a command */
void print_command_help(FILE *out, enum command command);

#endif
