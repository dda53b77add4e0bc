/* roc.h - the area under the ROC curve. */
#ifndef EVAL_ROC_H
#define EVAL_ROC_H

#include <stdbool.h>
#include <stdint.h>

/* The share of pairs (one positive, one negative) in which the positive one has the greater score,
 * equal ones counting half; skip as in average_precision. NaN without pairs, and for a NaN score.
 */
double roc_auc(const float *scores, const bool *positive, int64_t n, const bool *skip);

#endif
