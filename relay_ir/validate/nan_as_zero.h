/* nan_as_zero.h - a network of floats as integers would compute it where it has NaN: exact FP8 arithmetic
 * (relay_ir/ops/exact.h) reads NaN as 0, and divides 0 by 0 to 0. */
#ifndef RELAY_IR_VALIDATE_NAN_AS_ZERO_H
#define RELAY_IR_VALIDATE_NAN_AS_ZERO_H

#include "relay_ir/validate/trace.h"

/* Whether a value of the run has a NaN. */
bool trace_has_nan(const struct trace *trace);

/* Evaluates main on inputs that fit its parameters; results in bulk. False after an error of an evaluator. */
bool nan_as_zero_run(struct module *module, const struct tensor *inputs, struct tensor *results,
                     struct bulk *bulk);

#endif
