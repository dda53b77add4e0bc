/* executions.h - random tensors, and whether two executions of a function agree. */
#ifndef TESTS_SUPPORT_EXECUTIONS_H
#define TESTS_SUPPORT_EXECUTIONS_H

#include "relay_ir/interpret.h"
#include "runtime/engine/engine.h"

/* Fills with numbers of [low, high) that depend on *seed and move it on (integers: rounded down;
 * bool: the sign). */
void fill_random(const struct tensor *tensor, double low, double high, unsigned *seed);

/* A constant of random numbers. */
struct value *random_constant(struct function *fn, const char *name, int rank, const int64_t *dim,
                              double low, double high, unsigned *seed);

/* Random tensors for all parameters, in bulk. */
struct tensor *random_inputs(struct arena *arena, struct bulk *bulk, const struct function *fn,
                             double low, double high, unsigned *seed);

/* The greatest difference of two tensors relative to the greatest number of `wanted`; other types
 * than floats: 0 or infinity. NaN in one of them only is infinity, too. */
double difference(const struct tensor *got, const struct tensor *wanted);

/* The first element of two tensors of one type whose bits differ, NaN being NaN whatever its
 * payload; -1 = none. */
int64_t other_bits(const struct tensor *got, const struct tensor *wanted);

/* Runs fn on the reference and on the engine (n_runs times, on the same inputs) and returns the
 * greatest difference of any output; infinity when a run fails or repeats itself inexactly. */
double engine_difference(struct ctx *ctx, struct function *fn, struct engine *engine,
                         const struct tensor *inputs, int n_runs);

/* Steps of the engine that are nodes, and steps that change a layout. */
void engine_steps(const struct engine *engine, int *n_nodes, int *n_reorders);

#endif
