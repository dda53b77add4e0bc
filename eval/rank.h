/* rank.h - what a result of class scores answers. */
#ifndef EVAL_RANK_H
#define EVAL_RANK_H

#include "relay_ir/type.h"

/* The class of the greatest number, of equal ones the first; -1 where all are NaN. */
int result_class(const struct tensor *result);

/* How many classes come before the label: with greater numbers, or equal ones and in front. INT_MAX
 * where its number is NaN. */
int result_rank(const struct tensor *result, int label);

#endif
