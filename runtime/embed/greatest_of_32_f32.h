#ifndef EMBED_GREATEST_OF_32_F32_H
#define EMBED_GREATEST_OF_32_F32_H

#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/order_of_f32.h"

/* The maximum of 32 floats, NaN if any is NaN; compared as integers, for which compilers emit no branches. */
static inline float greatest_of_32_f32(const float best[32])
{
    int32_t greatest = INT32_MIN;

    for (int lane = 0; lane < 32; lane++) {
        const int32_t order = order_of_f32(best[lane]);

        greatest = order > greatest ? order : greatest;
    }
    return f32_of_bits(greatest < 0 ? ~(uint32_t)greatest | 0x80000000u : (uint32_t)greatest);
}

#endif
