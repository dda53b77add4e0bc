/* noise.h - how far the results of a network move when every value in it is wrong by what rounding
 * makes wrong: the measure for two computations of the same real numbers. */
#ifndef RELAY_IR_VALIDATE_NOISE_H
#define RELAY_IR_VALIDATE_NOISE_H

#include "relay_ir/ir.h"

struct noise_level {
    double step_probability; /* of a quantised value, to be moved by one step */
    enum dtype coarsest;     /* f32 is moved as this type: f16 and bf16 of a model of halves */
};

/* The coarsest float type that main computes with; F32 where there is none below. */
enum dtype noise_coarsest(const struct function *fn);

/* Evaluates main with every float that a node computes moved by up to a few units of its last
 * place, and quantised values that a node rounds moved by a step. Results in bulk. False after an
 * error of an evaluator. */
bool noise_run(struct module *module, const struct tensor *inputs, uint64_t seed,
               const struct noise_level *level, struct tensor *results, struct bulk *bulk);

#endif
