#ifndef EMBED_ATAN_F32_H
#define EMBED_ATAN_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* The arc tangent, within 1.7 ulp: a polynomial up to 1; beyond, pi / 2 less that of 1 / |v|. */
INLINE_F32 float atan_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(v) ^ sign), inverse = 1.0f / x;
    const int far = x > 1.0f;
    const float t = choose_f32(far, inverse, x), square = t * t, fourth = square * square;
    /* a polynomial in pairs of terms, for parallelism */
    const float upper = (0x1.642530p-7f * square - 0x1.fd7e38p-6f) * fourth + (0x1.da2a12p-5f * square - 0x1.58091cp-4f);
    const float lower = (0x1.c08c4ep-4f * square - 0x1.242086p-3f) * fourth + (0x1.9991e4p-3f * square - 0x1.55553ep-2f);
    const float p = (-0x1.d35b54p-10f * (fourth * fourth) + upper) * (fourth * fourth) + lower;
    const float near = t + t * square * p;
    const float rest = 0x1.921fb6p+0f - (near + 0x1.777a5cp-25f); /* pi / 2 in two parts */

    return f32_of_bits(f32_bits(choose_f32(far, rest, near)) | sign);
}

#endif
