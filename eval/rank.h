/* rank.h - argmax and rank in class scores. */
#ifndef EVAL_RANK_H
#define EVAL_RANK_H

#include "relay_ir/type.h"

/* Argmax, the first of equals; -1 if all are NaN. */
int result_class(const struct tensor *result);

/* Number of classes before the label: with greater scores, or equal ones and a lower index. INT_MAX
 * if the label's score is NaN. */
int result_rank(const struct tensor *result, int label);

#endif
