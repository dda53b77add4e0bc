/* footprint.h - compile --cc: size of the compiled code in bytes, by a C compiler. */
#ifndef DRIVER_FOOTPRINT_H
#define DRIVER_FOOTPRINT_H

#include "driver/driver.h"

/* Writes the code to a temporary folder, compiles each file with --cc and --cflags, adds up the
 * sections, and computes the stack of NAME_run (with a warning if the compiler gives no call
 * graph). NULL after an error. */
const struct codegen_measured *measure_footprint(struct driver_state *driver, struct module *module,
                                                 const struct codegen_options *options);

#endif
