/* emit_budget.h - what is alive where most is, and the checks of memory in NAME.h. */
#ifndef CODEGEN_C_EMIT_EMIT_BUDGET_H
#define CODEGEN_C_EMIT_EMIT_BUDGET_H

#include "base/str.h"

struct codegen;

/* What is alive where most is, for the result. */
void find_peak(struct codegen *codegen);

/* Of NAME.h: the measured stack, and the checks of --ram and --flash; nothing without them. */
void add_budget(struct codegen *codegen, struct str *out);

#endif
