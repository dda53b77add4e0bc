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
    PROMISE_CODES,    /* PROMISE_ROUNDING, and quantised values may differ by one step; NaN may
                         count as 0, as exact FP8 arithmetic has it */

    /* Intended changes of numbers. Results must stay finite, and become the reference for later
     * steps; what changes in the graph is bounded (quantised.h). */
    PROMISE_CODING,     /* without quantize and dequantize the graph is the one before; each weight
                           is the nearest number of its format */
    PROMISE_NEIGHBOURS, /* only stored weights differ, each by one number of its format at most */
    PROMISE_NEAR,       /* only stored weights differ, by NEAR_STEPS steps in a channel's rms */
    PROMISE_SHIFT /* only constants per channel behind products, by what validation_state_shift
                           said */
};

/* Nearest-plane rounding (quantize/rounding.h) moves a row of k weights by at most 5.03 sqrt(k) of
 * its steps: each term of R e is at most half a step of its diagonal, the squares of which sum up
 * to the trace of H, damped by 1 % of its mean, which bounds the least eigenvalue. Half a step more
 * is where the nearest numbers are. */
#define NEAR_STEPS 5.6

struct validation; /* opaque */

/* What a step says that it adds to the constant of a sum. */
struct stated_shift {
    const char *name; /* of the sum */
    int64_t n;
    const double *shift;
    struct stated_shift *next;
};

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

/* Before a step: remembers what PROMISE_CODES and later ones are judged by. */
void validation_before(struct validation *validation, struct module *module, enum promise promise);

/* Says what a step of PROMISE_SHIFT adds to the constants of a sum (NULL validation is fine); that
 * it has taken all back. */
void validation_state_shift(struct validation *validation, const char *sum, int64_t n,
                            const double *shift);
void validation_forget_shifts(struct validation *validation);

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
