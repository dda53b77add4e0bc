/* ram.h - --ram: whether the arena fits. */
#ifndef CODEGEN_C_PLAN_RAM_H
#define CODEGEN_C_PLAN_RAM_H

#include <stdbool.h>

struct codegen;

/* Whether the arena is no larger than options->ram allows; else an error which says what stands at
 * the peak. After plan_pack. */
bool ram_check(struct codegen *codegen);

#endif
