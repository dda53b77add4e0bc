#include "eval/mcnemar.h"

#include <math.h>

/* The sum of binomial probabilities from the rarest on; each follows from the one before. Where
 * 2^-n is no number, it starts at a logarithm. */
double mcnemar_p(int64_t lost, int64_t won)
{
    const int64_t n = lost + won, least = lost < won ? lost : won;
    double log_choose = 0, sum = 0;

    for (int64_t k = 0; k <= least; k++) {
        if (k > 0)
            log_choose += log((double)(n - k + 1)) - log((double)k);
        sum += exp(log_choose - (double)n * log(2));
    }
    return fmin(1, 2 * sum);
}
