#include <stdint.h>

#include "runtime/embed/multiply_q31.h"

/* 1 / sqrt(x) for x from 0 on: result * 2^*shift / 2^31; of 0 as of 1. x is brought to 2^27 .. 2^29 by powers of 4; then
 * five steps of Newton's method, y = 3/2 y - x y^3 / 2, in units of 2^-28. */
static int32_t inverse_root_q31(int32_t x, int *shift)
{
    int32_t y = 1 << 28;
    int pairs = 0;

    *shift = 0;
    if (x <= 1)
        return INT32_MAX;
    *shift = -11;
    while (x >= 1 << 29) {
        x /= 4;
        *shift -= 1;
    }
    while (x < 1 << 27) {
        x *= 4;
        pairs++;
    }
    *shift += pairs;
    for (int i = 0; i < 5; i++) {
        const int32_t cube = multiply_q31(multiply_q31(y, y), y) * 64;
        const int32_t x_cube = multiply_q31((x / 2 + 1) / 2, cube);

        y = (multiply_q31((1 << 28) + (1 << 27), y) - x_cube) * 8;
    }
    y = multiply_q31(y, 1518500250); /* sqrt(1/2) */
    if (*shift > 0) {
        y *= 1 << *shift;
        *shift = 0;
    }
    return y;
}
