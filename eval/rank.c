#include "eval/rank.h"

#include <limits.h>
#include <math.h>

int result_class(const struct tensor *result)
{
    const int64_t n = type_elements(&result->type);
    int at = -1;

    for (int64_t i = 0; i < n; i++)
        if (at < 0 ? !isnan(tensor_at(result, i)) : tensor_at(result, i) > tensor_at(result, at))
            at = (int)i;
    return at;
}

int result_rank(const struct tensor *result, int label)
{
    const int64_t n = type_elements(&result->type);
    const double mine = tensor_at(result, label);
    int n_before = 0;

    if (isnan(mine))
        return INT_MAX;
    for (int64_t i = 0; i < n; i++)
        n_before += tensor_at(result, i) > mine || (i < label && tensor_at(result, i) == mine);
    return n_before;
}
