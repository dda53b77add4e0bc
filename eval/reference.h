/* reference.h - what the float model says of each sample, with which another network is compared
 * where there are no labels. */
#ifndef EVAL_REFERENCE_H
#define EVAL_REFERENCE_H

#include "relay_ir/ir.h"

struct reference; /* opaque */

/* For n samples of fn's results. NULL after an error: they would take too much memory. */
struct reference *reference_new(struct ctx *ctx, const struct function *fn, int64_t n);

/* Threads may record different samples concurrently; before any of the following of a sample. */
void reference_record(struct reference *reference, int64_t sample, int class,
                      const struct tensor *outputs, int n_outputs);

int reference_class(const struct reference *reference, int64_t sample);

/* Cosine of all results with the recorded ones; 1 where both are zeros, 0 with NaN. */
double reference_cos(const struct reference *reference, int64_t sample,
                     const struct tensor *outputs, int n_outputs);

void reference_free(struct reference *reference); /* NULL is fine */

#endif
