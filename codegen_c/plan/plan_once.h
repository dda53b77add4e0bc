/* plan_once.h - one plan from the module on: regions, configurations, places. */
#ifndef CODEGEN_C_PLAN_PLAN_ONCE_H
#define CODEGEN_C_PLAN_PLAN_ONCE_H

#include <stdbool.h>

struct codegen;

/* Regions with their configurations, and the plan but offsets. *again, if it was true: whether main
 * has got a better order, so that all is to be done again. False after errors. */
bool codegen_prepare(struct codegen *codegen, bool *again);

/* Then the offsets, and what depends on them: names, and configurations of regions that overlap. */
bool codegen_pack(struct codegen *codegen);

#endif
