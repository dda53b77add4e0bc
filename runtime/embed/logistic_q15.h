#include <stdint.h>

/* logistic of x / 3, that in 2^-12, in 2^-15: linear between the entries of the table. */
static int32_t logistic_q15(const uint16_t *table, int32_t x)
{
    const uint32_t magnitude = x < 0 ? 0u - (uint32_t)x : (uint32_t)x, i = magnitude >> 9;
    int32_t y = 0x7FFF << 10;

    if (i < 255)
        y = (int32_t)(((uint32_t)table[i] << 9) + (magnitude & 511) * (uint32_t)(table[i + 1] - table[i]));
    return (x >= 0 ? y + 512 : (1 << 25) - y + 511) >> 10;
}
