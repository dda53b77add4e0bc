#include <stdint.h>

/* sum plus n products of weights and values; 32 bits suffice. */
static int32_t weigh_u8(const int8_t *weight, const uint8_t *x, int n, int32_t sum)
{
    for (int k = 0; k < n; k++)
        sum += weight[k] * x[k];
    return sum;
}
