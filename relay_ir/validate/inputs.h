/* inputs.h - numbers that show mistakes: no two parts of a tensor are alike, no symmetry, and among
 * them zeros of both signs, large and small ones. */
#ifndef RELAY_IR_VALIDATE_INPUTS_H
#define RELAY_IR_VALIDATE_INPUTS_H

#include "relay_ir/ir.h"

/* How inputs are made; when an evaluator refuses those of one kind (an index out of range), the
 * next is tried. */
enum input_kind {
    INPUTS_PLAIN,   /* floats in [-1.5, 2), integers 0 .. 9 */
    INPUTS_EXTREME, /* the same with -0, 0, and numbers of great and small magnitude in between */
    INPUTS_SMALL,   /* floats in [0.1, 1), integers 0 and 1 */
    INPUT_KINDS
};

/* SplitMix64: the same numbers on every machine. */
uint64_t random_next(uint64_t *state);
double random_unit(uint64_t *state); /* [0, 1) */

void inputs_fill(enum input_kind kind, struct tensor *tensor, uint64_t *state);

/* What a parameter takes whose type a step has changed from that of `given`: codes of small numbers
 * where floats were. False when there is no such way. */
bool inputs_fit(struct bulk *bulk, const struct type *param, const struct tensor *given,
                struct tensor *fitted);

#endif
