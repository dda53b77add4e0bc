/* mcnemar.h - whether two networks that differ on some of the samples differ by more than chance. */
#ifndef EVAL_MCNEMAR_H
#define EVAL_MCNEMAR_H

#include <stdint.h>

/* McNemar's exact test, two-sided: the probability that samples on which only one of two equally
 * good networks is right divide as unevenly as `lost` and `won`, or more. 1 if there are none. */
double mcnemar_p(int64_t lost, int64_t won);

#endif
