#ifndef EMBED_EXP_F32_H
#define EMBED_EXP_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* e^v, within 1.02 ulp. Without branches, so that loops around it are vectorised. */
INLINE_F32 float exp_f32(float v)
{
    const float x = limited_f32(v, 176.0f); /* 2^-254 underflows to 0 directly, without a slow rounding */
    /* x = n * log(2) + r, n an integer. The sum's last bit is worth 1, so its low bits hold n + 254. */
    const float sum = x * 0x1.715476p+0f + 0x1.8001fcp+23f;
    const float n = sum - 0x1.8001fcp+23f;
    const float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f, square = r * r;
    /* e^r = 1 + r + r^2 * (1/2 + ...), in pairs of terms, for parallelism */
    const float p = (0x1.6a3fb4p-10f * square + (0x1.1239e0p-7f * r + 0x1.5558bep-5f)) * square
                    + (0x1.555492p-3f * r + 0x1.fffffcp-2f);
    const float less = r + square * p;
    /* 2^n in two factors: a float holds 2^127 at most, and subnormal results are rounded once. */
    const uint32_t half = f32_bits(sum) >> 1 << 23;
    const float factor = f32_of_bits(half), rest = f32_of_bits((f32_bits(sum) << 23) - half);

    return (factor + factor * less) * choose_f32(v <= v, rest, v);
}

#endif
