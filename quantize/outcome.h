/* outcome.h - distance between the results of a quantised network and of the float one: the
 * criterion for corrections that were found layer by layer. */
#ifndef QUANTIZE_OUTCOME_H
#define QUANTIZE_OUTCOME_H

#include "quantize/steps.h"

/* Reference results on the first samples: at most 64, and 64 MiB. Results that are not f32
 * (indices) are ignored. */
struct outcome; /* opaque; in ctx->perm */

/* Records the results of the module in its present state. NULL after an error: a sample that cannot
 * be loaded or run. */
struct outcome *outcome_of(struct quantization *q);

/* Runs the module again: *loss is the mean over results and samples of 1 - cosine to the recorded
 * result (0 if nothing can be compared). Unlike the mean square, it ignores the scale of logits.
 * False after an error. */
bool outcome_loss(struct quantization *q, const struct outcome *was, double *loss);

#endif
