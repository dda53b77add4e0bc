/* name_values.h - what NAME_run calls its parameters and the pointers in it. */
#ifndef CODEGEN_C_PLAN_NAME_VALUES_H
#define CODEGEN_C_PLAN_NAME_VALUES_H

#include "relay_ir/ir.h"

struct codegen;

/* The array of a constant that main itself reads, which is made if there is none yet; NULL = it
 * does not. */
const char *stored_constant(struct codegen *codegen, const struct value *value);

/* codegen->input_names, output_names and local_names, of a packed plan. */
void name_values(struct codegen *codegen);

#endif
