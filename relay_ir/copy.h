/* copy.h - a module once more, to be rewritten while the original stays. */
#ifndef RELAY_IR_COPY_H
#define RELAY_IR_COPY_H

#include "relay_ir/ir.h"

/* A module with the same main: names, types, origins. Payloads of constants are borrowed from the
 * original, which must outlive it; so are origins. Only for modules without regions. NULL after an
 * error. The original is only read: several threads may copy it at once, each with its own ctx. */
struct module *module_copy(struct ctx *ctx, const struct module *module);

#endif
