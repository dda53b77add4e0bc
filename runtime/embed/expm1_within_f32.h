#ifndef EMBED_EXPM1_WITHIN_F32_H
#define EMBED_EXPM1_WITHIN_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* e^v - 1 for |v| <= 20, within 1.5 ulp; 0 of -0. */
INLINE_F32 float expm1_within_f32(float v)
{
    /* v = n * log(2) + r, n an integer; the sum's last bit is worth 1. */
    const uint32_t sum = f32_bits(v * 0x1.715476p+0f + 0x1.8p+23f);
    const float n = f32_of_bits(sum) - 0x1.8p+23f;
    const float r = v - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f, square = r * r;
    /* e^r - 1 = r + r^2 * (1/2 + ...), in pairs of terms, for parallelism */
    const float upper = (0x1.9e7d64p-13f * r + 0x1.6d3aa0p-10f) * square + (0x1.1112d4p-7f * r + 0x1.5554f8p-5f);
    const float less = r + square * (upper * square + (0x1.555554p-3f * r + 0.5f));
    const float power = f32_of_bits((sum - 0x4b3fff81u) << 23); /* 2^n */

    return power * less + (power - 1.0f);
}

#endif
