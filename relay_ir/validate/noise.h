/* noise.h - how far a network's results move when every value in it has a rounding error: the
 * yardstick for two computations of the same real function. */
#ifndef RELAY_IR_VALIDATE_NOISE_H
#define RELAY_IR_VALIDATE_NOISE_H

#include "relay_ir/ir.h"

struct noise_level {
    double step_probability; /* that a quantised value moves by one step */
    enum dtype coarsest;     /* f32 moves as this type: f16 or bf16 for half-precision models */
};

/* Coarsest float type that main computes with, at most F32. */
enum dtype noise_coarsest(const struct function *fn);

/* Evaluates main with each float, inputs included, moved by up to a few ulps, and rounded quantised values
 * by a step. Results in bulk. False after an error of an evaluator. */
bool noise_run(struct module *module, const struct tensor *inputs, uint64_t seed,
               const struct noise_level *level, struct tensor *results, struct bulk *bulk);

#endif
