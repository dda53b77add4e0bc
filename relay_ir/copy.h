/* copy.h - a copy of a module, to be rewritten while the original stays. */
#ifndef RELAY_IR_COPY_H
#define RELAY_IR_COPY_H

#include "relay_ir/ir.h"

/* Copies a module without regions: main with its names, types and origins. Payloads of constants
 * and origins are borrowed from the original, which must outlive the copy and is only read: threads
 * may copy it concurrently, each with its own ctx. NULL after an error. */
struct module *module_copy(struct ctx *ctx, const struct module *module);

#endif
