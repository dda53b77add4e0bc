#include <stdint.h>

#include "runtime/embed/shift_down.h"

/* tanh of x / 3, that in 2^-12, in 2^-15: 2 logistic(2x) - 1, linear between the entries of the table. */
static int32_t tanh_q15(const uint16_t *table, int32_t x)
{
    const uint32_t magnitude = x < 0 ? 0u - (uint32_t)x : (uint32_t)x, i = magnitude >> 8;
    int32_t y = 0xFFFF << 8;

    if (i < 255)
        y = (int32_t)(((uint32_t)table[i] << 8) + (magnitude & 255) * (uint32_t)(table[i + 1] - table[i]));
    return shift_down(x >= 0 ? y - (1 << 23) + 128 : (1 << 23) - y + 127, 8);
}
