#ifndef EMBED_EXPM1_F32_H
#define EMBED_EXPM1_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* e^v - 1 for v up to 20, off by 1.5 ulp at most; 0 of -0. */
INLINE_F32 float expm1_f32(float v)
{
    /* x = n * log(2) + r, n whole: the last bit of the sum is worth 1. */
    const float x = limited_f32(v, 20.0f);
    const uint32_t sum = f32_bits(x * 0x1.715476p+0f + 0x1.8p+23f);
    const float n = f32_of_bits(sum) - 0x1.8p+23f;
    const float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f;
    /* e^r - 1 = r + r^2 * (1/2 + ...) */
    const float p = ((((0x1.9e7d64p-13f * r + 0x1.6d3aa0p-10f) * r + 0x1.1112d4p-7f) * r + 0x1.5554f8p-5f) * r
                     + 0x1.555554p-3f) * r + 0.5f;
    const float less = r + r * r * p;
    const float power = f32_of_bits((sum - 0x4b3fff81u) << 23); /* 2^n */

    return choose_f32(v == v, power * less + (power - 1.0f), v);
}

#endif
