#include <stdint.h>

#include "runtime/embed/multiply_q31.h"

/* 1 / x for x of 2^12 .. 2^31 - 1 in units of 2^-19: result / 2^31 / 2^*shift. Newton's method from
 * 48/17 - 32/17 d, where d of 1/2 .. 1 is x shifted; y is 1 / d in units of 2^-29. */
static int32_t reciprocal_q31(uint32_t x, int *shift)
{
    int zeros = 1;
    int32_t d, y;

    while (!(x >> (31 - zeros)))
        zeros++;
    *shift = 12 - zeros;
    d = (int32_t)(x << zeros >> 1);
    y = 1515870810 + multiply_q31(d, -1010580540);
    for (int i = 0; i < 3; i++)
        y += multiply_q31(y, (1 << 29) - multiply_q31(d, y)) * 4;
    return y > (1 << 30) - 1 ? INT32_MAX : y * 2;
}
