/* validate.h - translation validation: after each step of the pipeline the graph means what it
 * meant before.
 *
 * The reference evaluators run the graph as it was imported, then the graph after each step, on the
 * same inputs. What a step promises of the numbers (enum promise) says how far the results of main
 * may be from those before it. The first step that breaks its promise is named with a node: an
 * error of relayc (DIAG_MEANING), whatever the graph verifier says.
 *
 * Nothing here is shared with the passes but the graph itself and the evaluators of relay_ir/ops.
 */
#ifndef RELAY_IR_VALIDATE_VALIDATE_H
#define RELAY_IR_VALIDATE_VALIDATE_H

#include <stdio.h>

#include "relay_ir/ir.h"

/* What a step promises of main's results. */
enum promise {
    PROMISE_BITS,     /* the same bits; NaN is NaN, whatever its payload */
    PROMISE_ROUNDING, /* the same real numbers, rounded elsewhere: results are no further apart than
                         NOISE_FACTOR times what the smallest noise on every value moves them by */
    PROMISE_CODES,    /* the same, and quantised values may be one step apart */
    PROMISE_NOTHING   /* changes the numbers on purpose (quantisation): results must be finite where
                         they were, and what they have become is what later steps are held to */
};

struct validation; /* opaque */

struct validation_options {
    uint64_t seed; /* of the inputs */
    int n_inputs;  /* sets of them; 0 = 3 of a small network, 1 of one over 100 M MACs */
    double limit;  /* multiply-accumulates and elements above which a network is not evaluated, nor
                      where its values take too much memory; 0 = none */
    FILE *log;     /* a line per step; NULL = none */
};

/* Evaluates the module as it is now, imported and before any pass. The options may be NULL. A
 * network that cannot be evaluated on made-up inputs (an index out of range) is not validated: see
 * validation_is_blind. */
struct validation *validation_new(struct module *module, const struct validation_options *options);
void validation_free(struct validation *validation); /* NULL is fine */

/* Evaluates the module after the step. False after an error that names the step and the first node
 * whose value is not what it was. */
bool validation_step(struct validation *validation, struct module *module, const char *step,
                     enum promise promise);

/* After the last step: the graph that is left means what was imported, as far as all steps together
 * promise it. False after an error. */
bool validation_end(struct validation *validation, struct module *module);

/* No made-up input could be evaluated, so that steps are not judged. */
bool validation_is_blind(const struct validation *validation);

/* For reports: steps judged, and results whose own rounding noise is so large (over a tenth of the
 * result) that a promise other than bits says little. */
int validation_n_steps(const struct validation *validation);
int validation_n_noisy(const struct validation *validation);

#endif
