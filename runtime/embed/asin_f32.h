#ifndef EMBED_ASIN_F32_H
#define EMBED_ASIN_F32_H

#include <stdint.h>

#include "runtime/embed/asin_series_f32.h"
#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/sqrt_f32.h"

/* The arc sine, within 2 ulp: a polynomial up to 1/2; beyond, pi / 2 less twice the arc sine of sqrt((1 - |v|) /
 * 2). */
INLINE_F32 float asin_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(v) ^ sign), half = 0.5f - 0.5f * x;
    const int far = x > 0.5f;
    const float root = sqrt_f32(half); /* at most 1 */
    const float near = asin_series_f32(choose_f32(far, root, x), choose_f32(far, half, x * x));
    const float rest = 0x1.921fb6p+0f - 2.0f * near - 0x1.777a5cp-25f; /* pi / 2 in two parts */

    return f32_of_bits(f32_bits(choose_f32(far, rest, near)) | sign);
}

#endif
