#ifndef EMBED_ERF_F32_H
#define EMBED_ERF_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/expm1_within_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* The error function, within 2 ulp: 1 - e^-(v + v * (0.128 + ...)) for v >= 0; 1 from 3.92 on. */
INLINE_F32 float erf_f32(float v)
{
    const float x = limited_magnitude_f32(v, 3.95f), square = x * x, fourth = square * square;
    /* a polynomial in pairs of terms, for parallelism */
    const float upper = (-0x1.3b02ccp-17f * x + 0x1.f28aecp-14f) * square + (-0x1.4e29a0p-11f * x + 0x1.b744d2p-10f);
    const float lower = (-0x1.637a24p-13f * x - 0x1.39b7cap-6f) * square + (0x1.a4f8c4p-4f * x + 0x1.45f300p-1f);
    const float p = (upper * fourth + lower) * x + 0x1.06eba8p-3f;
    const float y = expm1_within_f32(-(x + x * p)); /* at most 0 */
    const uint32_t sign = f32_bits(v) & 0x80000000u;

    return choose_f32(v <= v, f32_of_bits((f32_bits(y) & 0x7fffffffu) | sign), v);
}

#endif
