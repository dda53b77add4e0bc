/* expected.h - what a network was compiled on the premise of, and a run finds out: where it does not hold, NAME_run gives
 * NAME_WRONG_NUMBER. */
#ifndef FRONTEND_EXPECTED_H
#define FRONTEND_EXPECTED_H

#include "relay_ir/ir.h"

/* `holds` (NULL: yes), and that the truth value, of one element, is `wanted`. Scalar; NULL after an error, as below. */
struct value *expected_too(struct function *fn, const struct origin *origin, struct value *holds,
                           struct value *truth, bool wanted);

/* The value, if the truth value `holds` at run time; NULL: certainly. */
struct value *expected_value(struct function *fn, const struct origin *origin, struct value *value,
                             struct value *holds);

#endif
