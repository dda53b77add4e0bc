#include <stdint.h>

#include "runtime/embed/multiply_q31.h"

/* 1 / (1 + x) for x of 0 .. 1 in units of 2^-31. Newton's method from 48/17 - 32/17 d, where d is (1 + x) / 2; y is 1 / d
 * in units of 2^-29. */
static int32_t inverse_q31(int32_t x)
{
    const int32_t d = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t y = 1515870810 + multiply_q31(d, -1010580540);

    for (int i = 0; i < 3; i++)
        y += multiply_q31(y, (1 << 29) - multiply_q31(d, y)) * 4;
    return y > (1 << 30) - 1 ? INT32_MAX : y * 2;
}
