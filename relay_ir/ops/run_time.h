/* run_time.h - numbers that are known at run time only, and what they may be. */
#ifndef RELAY_IR_OPS_RUN_TIME_H
#define RELAY_IR_OPS_RUN_TIME_H

#include "relay_ir/ir.h"

/* In what an expect allows: any number will do. */
#define ANY_NUMBER INT64_MIN

/* Where the value is such numbers, fills in some that agree with the model's shapes, of the tensor's
 * type. False if it is none. */
bool run_time_example(const struct value *value, struct tensor *numbers);

/* Whether a run may find numbers that the module was not compiled for. */
bool run_time_is_checked(const struct module *module);

#endif
