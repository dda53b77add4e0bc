#include <stdint.h>

/* 1 / x = result / 2^*shift, with a relative error below 2^-29; x is not 0. The result has 31 bits. */
static int32_t inverse_of(uint64_t x, int *shift)
{
    uint64_t inverse;

    *shift = 62;
    for (; x >> 32 > 0; x >>= 1)
        *shift += 1;
    for (; x >> 31 == 0; x <<= 1)
        *shift -= 1;
    inverse = ((uint64_t)1 << 62) / x;
    return inverse > INT32_MAX ? INT32_MAX : (int32_t)inverse;
}
