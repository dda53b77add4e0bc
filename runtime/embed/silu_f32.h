#ifndef EMBED_SILU_F32_H
#define EMBED_SILU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* v / (1 + e^-v), off by 1.75 ulp at most; 0 below -88, in place of results of less than 2^-120. */
INLINE_F32 float silu_f32(float v)
{
    const uint32_t is_positive = ~f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(limited_magnitude_f32(v, 88.0f)) | is_positive); /* -v */
    /* x = n * log(2) + r, n whole: the last bit of `shifted` is worth 1, its last bits are those of n + 127. */
    const float shifted = x * 0x1.715476p+0f + 0x1.8000fep+23f;
    const float n = shifted - 0x1.8000fep+23f, factor = f32_of_bits(f32_bits(shifted) << 23);
    const float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f, square = r * r;
    /* e^r - 1 = r + r^2 * (1/2 + ...), by pairs of terms that need not wait for each other */
    const float p = (0x1.6a3fb4p-10f * square + (0x1.1239e0p-7f * r + 0x1.5558bep-5f)) * square
                    + (0x1.555492p-3f * r + 0x1.fffffcp-2f);
    const float less = r + square * p;
    /* 1 + factor is exact but from 2^24 on, and below 2^-23 */
    const float whole = 1.0f + factor, lost = 1.0f - (whole - factor);

    return choose_f32(v < -88.0f, 0.0f, v / (whole + (less * factor + lost)));
}

#endif
