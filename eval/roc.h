/* roc.h - area under the ROC curve. */
#ifndef EVAL_ROC_H
#define EVAL_ROC_H

#include <stdbool.h>
#include <stdint.h>

/* Share of (positive, negative) pairs in which the positive has the greater score; ties count half.
 * skip as in average_precision. NaN without pairs, or with a NaN score. */
double roc_auc(const float *scores, const bool *positive, int64_t n, const bool *skip);

#endif
