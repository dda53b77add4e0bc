/* validate.h - translation validation: checks that every step of the pipeline preserves what the
 * graph computes.
 *
 * The reference evaluators run the graph as it was imported, then the graph after each step, on the
 * same inputs. A step's promise (enum promise) bounds the change in main's results. The first step
 * that breaks it is reported with a node as a bug in relayc (DIAG_MEANING).
 *
 * The only code shared with the passes is the graph and the evaluators of relay_ir/ops. */
#ifndef RELAY_IR_VALIDATE_VALIDATE_H
#define RELAY_IR_VALIDATE_VALIDATE_H

#include <stdio.h>

#include "relay_ir/ir.h"

/* Bound on the change of main's results by a step. */
enum promise {
    PROMISE_BITS,     /* identical bits; any NaN equals any other */
    PROMISE_ROUNDING, /* equal real values, rounded differently: results differ by at most
                         NOISE_FACTOR times their change under the smallest noise on every value */
    PROMISE_CODES,    /* PROMISE_ROUNDING, and quantised values may differ by one step */
    PROMISE_NOTHING   /* intended change (quantisation): results must stay finite, and become the
                         reference for later steps */
};

struct validation; /* opaque */

struct validation_options {
    uint64_t seed; /* of the input data */
    int n_inputs;  /* sets of inputs; 0 = 3 for small networks, 1 above 100 M MACs */
    double limit;  /* work (MACs and elements) above which a network is not evaluated; memory is
                      limited too. 0 = no limit */
    FILE *log;     /* a line per step; NULL = none */
};

/* Evaluates the imported module, before any pass. options may be NULL. Networks that cannot be
 * evaluated on generated inputs (an index out of range) are not validated: validation_is_blind. */
struct validation *validation_new(struct module *module, const struct validation_options *options);
void validation_free(struct validation *validation); /* NULL is fine */

/* Evaluates the module after a step. False after an error that names the step and the first node
 * whose value changed. */
bool validation_step(struct validation *validation, struct module *module, const char *step,
                     enum promise promise);

/* After the last step: compares the final graph with the imported one under the weakest promise so
 * far. False after an error. */
bool validation_end(struct validation *validation, struct module *module);

/* True if no generated input could be evaluated, so that steps are not checked. */
bool validation_is_blind(const struct validation *validation);

/* For reports: steps checked, and results whose rounding noise exceeds a tenth of their magnitude,
 * so that promises other than bits are weak. */
int validation_n_steps(const struct validation *validation);
int validation_n_noisy(const struct validation *validation);

#endif
