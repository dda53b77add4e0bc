#include "relay_ir/ops/q15.h"

#include <math.h>

uint16_t q15_entry(int i)
{
    const double step = 1.0 / 24, s = 1 / (1 + exp(-step * i));
    const double bend = s * (1 - s) * (1 - 2 * s); /* second derivative */

    return i < Q15_ENTRIES - 1 ? (uint16_t)floor(0x1p16 * (s - step * step / 16 * bend) + 0.5)
                               : UINT16_MAX;
}

static uint32_t magnitude_of(int32_t x)
{
    return x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
}

int16_t q15_logistic(const uint16_t *table, int32_t x)
{
    const uint32_t magnitude = magnitude_of(x), i = magnitude >> 9;
    int32_t y = 0x7FFF << 10;

    if (i < Q15_ENTRIES - 1)
        y = (int32_t)(((uint32_t)table[i] << 9) +
                      (magnitude & 511) * (uint32_t)(table[i + 1] - table[i]));
    return (int16_t)((x >= 0 ? y + 512 : (1 << 25) - y + 511) / 1024);
}

int16_t q15_tanh(const uint16_t *table, int32_t x)
{
    const uint32_t magnitude = magnitude_of(x), i = magnitude >> 8;
    int32_t y = 0xFFFF << 8, rounded;

    if (i < Q15_ENTRIES - 1)
        y = (int32_t)(((uint32_t)table[i] << 8) +
                      (magnitude & 255) * (uint32_t)(table[i + 1] - table[i]));
    rounded = x >= 0 ? y - (1 << 23) + 128 : (1 << 23) - y + 127;
    return (int16_t)(rounded < 0 ? ~(~rounded / 256) : rounded / 256);
}
