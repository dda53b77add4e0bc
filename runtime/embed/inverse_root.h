#ifndef EMBED_INVERSE_ROOT_H
#define EMBED_INVERSE_ROOT_H

#include <stdint.h>

/* 1 / sqrt(x) = result / 2^*shift, with a relative error below 2^-30; x is not 0. The result has 31 bits, or is
 * 2^31; *shift is 31 .. 62. The root of 32 bits is computed bit by bit, rounded down. */
static uint32_t inverse_root(uint64_t x, int *shift)
{
    uint32_t root = 0;

    *shift = 62;
    while (x >> 62 == 0) {
        x <<= 2;
        *shift -= 1;
    }
    for (uint32_t bit = (uint32_t)1 << 31; bit > 0; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= x)
            root |= bit;
    return (uint32_t)(((uint64_t)1 << 62) / root);
}

#endif
