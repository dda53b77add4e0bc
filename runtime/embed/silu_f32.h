#ifndef EMBED_SILU_F32_H
#define EMBED_SILU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* v / (1 + e^-v), within 1.75 ulp; 0 for v < -88, where results are below 2^-120. */
INLINE_F32 float silu_f32(float v)
{
    const uint32_t is_positive = ~f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(limited_magnitude_f32(v, 88.0f)) | is_positive); /* -v */
    /* x = n * log(2) + r, n an integer. The last bit of `shifted` is worth 1, so its low bits hold n + 127. */
    const float shifted = x * 0x1.715476p+0f + 0x1.8000fep+23f;
    const float n = shifted - 0x1.8000fep+23f, factor = f32_of_bits(f32_bits(shifted) << 23);
    const float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f, square = r * r;
    /* e^r - 1 = r + r^2 * (1/2 + ...), in pairs of terms, for parallelism */
    const float p = (0x1.6a3fb4p-10f * square + (0x1.1239e0p-7f * r + 0x1.5558bep-5f)) * square
                    + (0x1.555492p-3f * r + 0x1.fffffcp-2f);
    const float less = r + square * p;
    /* 1 + factor, and what rounding it lost: exact from 2^-23 to 2^24 */
    const float whole = 1.0f + factor, lost = 1.0f - (whole - factor);

    return choose_f32(v < -88.0f, 0.0f, v / (whole + (less * factor + lost)));
}

#endif
