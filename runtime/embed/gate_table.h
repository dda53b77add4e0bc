#ifndef EMBED_GATE_TABLE_H
#define EMBED_GATE_TABLE_H

#include <stdint.h>

/* A function at x / 2^20 by linear interpolation in a table of its values at 0, 1/64, 2/64 ... segments / 64;
 * constant beyond. The entries rise. */
static int32_t gate_table(uint32_t x, const uint16_t *table, uint32_t segments)
{
    const uint32_t k = x >> 14, rest = x & 16383;

    if (k >= segments)
        return table[segments];
    return (int32_t)(table[k] + (((uint32_t)(table[k + 1] - table[k]) * rest + 8192) >> 14));
}

#endif
