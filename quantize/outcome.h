/* outcome.h - how near the results of a quantised network are to those of the float one: the judge
 * of corrections, which were found layer by layer. */
#ifndef QUANTIZE_OUTCOME_H
#define QUANTIZE_OUTCOME_H

#include "quantize/steps.h"

/* The float model's results on the first samples, as many as take no more than 64 MiB, at most 64.
 * Results that are no f32 (indices) are not looked at. */
struct outcome; /* opaque; of ctx->perm */

/* Runs the module as it is now. NULL after an error: a sample that cannot be loaded or run. */
struct outcome *outcome_of(struct quantization *q);

/* Runs the module again: *loss is 1 - the cosine between a sample's result then and now, in the
 * mean over results and samples (0: the same direction; nothing to compare: 0). A logit's scale and
 * a sum that all classes have in common decide nothing, which is why it is not the mean square.
 * False after an error. */
bool outcome_loss(struct quantization *q, const struct outcome *was, double *loss);

#endif
