/* footprint.h - compile --cc: what a C compiler makes of the generated code, in bytes. */
#ifndef CLI_FOOTPRINT_H
#define CLI_FOOTPRINT_H

#include "cli/cli.h"

/* Writes the code to a folder that goes away again, compiles each of its files with --cc and
 * --cflags, adds up their sections, and computes the stack of NAME_run. NULL after an error. A
 * compiler that does not tell the call graph is warned of: then there is no stack. */
const struct codegen_measured *measure_footprint(struct cli *cli, struct module *module,
                                                 const struct codegen_options *options);

#endif
