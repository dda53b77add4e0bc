#ifndef EMBED_ERF_F32_H
#define EMBED_ERF_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/expm1_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* The error function, off by 1.95 ulp at most: 1 - e^-(v + v * (0.128 + ...)) for v >= 0; 1 from 3.92 on. */
INLINE_F32 float erf_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = limited_f32(f32_of_bits(f32_bits(v) ^ sign), 3.95f);
    const float p = (((((((-0x1.3b02ccp-17f * x + 0x1.f28aecp-14f) * x - 0x1.4e29a0p-11f) * x + 0x1.b744d2p-10f) * x
                        - 0x1.637a24p-13f) * x - 0x1.39b7cap-6f) * x + 0x1.a4f8c4p-4f) * x + 0x1.45f300p-1f) * x
                    + 0x1.06eba8p-3f;
    const float y = expm1_f32(-(x + x * p)); /* 0 or less */

    return choose_f32(v == v, f32_of_bits((f32_bits(y) & 0x7fffffffu) | sign), v);
}

#endif
