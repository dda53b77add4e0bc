#ifndef EMBED_EXP_NEGATIVE_F32_H
#define EMBED_EXP_NEGATIVE_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* e^v for v <= 0, with the bits of exp_f32 down to 2^-126; 0 below. */
INLINE_F32 float exp_negative_f32(float v)
{
    /* Clamps to -88, as integers: `turn` puts NaN, which stays, before 0, and -infinity last. */
    const uint32_t turn = 0x007fffffu, bits = f32_bits(v) + turn, limit = 0xc2b00000u + turn;
    const float x = f32_of_bits((bits < limit ? bits : limit) - turn);
    const float sum = x * 0x1.715476p+0f + 0x1.8000fep+23f;
    const float n = sum - 0x1.8000fep+23f;
    const float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f, square = r * r;
    const float p = (0x1.6a3fb4p-10f * square + (0x1.1239e0p-7f * r + 0x1.5558bep-5f)) * square
                    + (0x1.555492p-3f * r + 0x1.fffffcp-2f);
    const float less = r + square * p;
    const float factor = f32_of_bits(f32_bits(sum) << 23); /* 2^n, or 0 for n = -127 */

    return factor + factor * less;
}

#endif
