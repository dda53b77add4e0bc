/* quantised.h - steps that quantise change numbers on purpose, so results say little of them. What
 * they may change is checked in the graph: everything else must be as it was (snapshot.h).
 *
 * Each is false after an error (DIAG_MEANING) that names the step and the node. */
#ifndef RELAY_IR_VALIDATE_QUANTISED_H
#define RELAY_IR_VALIDATE_QUANTISED_H

#include "relay_ir/validate/snapshot.h"
#include "relay_ir/validate/validate.h"

/* Without quantize and dequantize (or casts) the graph is the one before, and each quantised
 * weight is the number of its format that is nearest to the weight before. */
bool quantised_is_coding(struct ctx *ctx, const struct snapshot *was, struct function *fn,
                         const char *step);

/* Only quantised weights differ: each by at most one number of its format, or (PROMISE_NEAR) those
 * of a channel by NEAR_STEPS steps in the root mean square. */
bool quantised_is_rounding(struct ctx *ctx, const struct snapshot *was, const struct function *fn,
                           const char *step, enum promise promise);

/* Only constants per channel differ that are added behind products: by what was stated. */
bool quantised_is_shift(struct ctx *ctx, const struct snapshot *was, const struct function *fn,
                        const char *step, const struct stated_shift *stated);

#endif
