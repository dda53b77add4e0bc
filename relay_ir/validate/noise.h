/* noise.h - how far the results of a network move when every value in it is wrong by what rounding
 * makes wrong: the measure for two computations of the same real numbers. */
#ifndef RELAY_IR_VALIDATE_NOISE_H
#define RELAY_IR_VALIDATE_NOISE_H

#include "relay_ir/ir.h"

/* Evaluates main with every float that a node computes moved by up to a few units of its last
 * place, and every quantised value that a node rounds moved by one step with this probability.
 * Results in bulk. False after an error of an evaluator. */
bool noise_run(struct module *module, const struct tensor *inputs, uint64_t seed,
               double step_probability, struct tensor *results, struct bulk *bulk);

#endif
