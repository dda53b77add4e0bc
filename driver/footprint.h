/* footprint.h - compile --cc: what a C compiler makes of the generated code, in bytes. */
#ifndef DRIVER_FOOTPRINT_H
#define DRIVER_FOOTPRINT_H

#include "driver/driver.h"

/* Writes the code to a folder that goes away again, compiles each of its files with --cc and
 * --cflags, adds up their sections, and computes the stack of NAME_run. NULL after an error. A
 * compiler that does not tell the call graph is warned of: then there is no stack. */
const struct codegen_measured *measure_footprint(struct driver_state *driver, struct module *module,
                                                 const struct codegen_options *options);

#endif
