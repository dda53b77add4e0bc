/* inputs.h - input data that exposes mistakes: no two slices alike, no symmetry, zeros of both
 * signs, large and small magnitudes. */
#ifndef RELAY_IR_VALIDATE_INPUTS_H
#define RELAY_IR_VALIDATE_INPUTS_H

#include "relay_ir/ir.h"

/* Kind of input data. If an evaluator refuses one kind (an index out of range), the next is
 * tried. */
enum input_kind {
    INPUTS_PLAIN,   /* floats in [-1.5, 2), integers 0 .. 9 */
    INPUTS_EXTREME, /* PLAIN mixed with -0, 0, and large and small magnitudes */
    INPUTS_SMALL,   /* floats in [0.1, 1), integers 0 and 1 */
    INPUT_KINDS
};

/* SplitMix64: identical on every machine. */
uint64_t random_next(uint64_t *state);
double random_unit(uint64_t *state); /* [0, 1) */

void inputs_fill(enum input_kind kind, struct tensor *tensor, uint64_t *state);

/* Converts `given` for a parameter whose type a pass has changed: floats to quantised values. False
 * if that is impossible. */
bool inputs_fit(struct bulk *bulk, const struct type *param, const struct tensor *given,
                struct tensor *fitted);

#endif
