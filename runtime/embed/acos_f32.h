#ifndef EMBED_ACOS_F32_H
#define EMBED_ACOS_F32_H

#include <stdint.h>

#include "runtime/embed/asin_series_f32.h"
#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/sqrt_f32.h"

/* The arc cosine, within 1.3 ulp: pi / 2 less the arc sine up to 1/2; beyond, twice the arc sine of sqrt((1 -
 * |v|) / 2), or pi less that. */
INLINE_F32 float acos_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(v) ^ sign), half = 0.5f - 0.5f * x;
    const int far = x > 0.5f;
    const float root = sqrt_f32(half); /* at most 1 */
    const float sine = asin_series_f32(choose_f32(far, root, x), choose_f32(far, half, x * x));
    const float signed_sine = f32_of_bits(f32_bits(sine) ^ sign);
    /* pi / 2 and pi in two parts */
    const float near = 0x1.921fb6p+0f - (signed_sine + 0x1.777a5cp-25f);
    const float beyond = choose_f32((int)(sign >> 31), 0x1.921fb6p+1f - 0x1.777a5cp-24f, 0.0f) + 2.0f * signed_sine;

    return choose_f32(far, beyond, near);
}

#endif
