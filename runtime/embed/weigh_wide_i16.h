#include <stdint.h>

/* sum plus n products of weights and values, in 64 bits. */
static int64_t weigh_wide_i16(const int8_t *weight, const int16_t *x, int n, int64_t sum)
{
    for (int k = 0; k < n; k++)
        sum += weight[k] * x[k];
    return sum;
}
