#ifndef EMBED_TANH_F32_H
#define EMBED_TANH_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* The hyperbolic tangent, within 1.5 ulp: a polynomial up to 0.55, then 1 - 2 / (1 + e^(2|v|)). */
INLINE_F32 float tanh_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(v) ^ sign), square = x * x;
    const float p = (((-0x1.9921a2p-8f * square + 0x1.58e518p-6f) * square - 0x1.b91e7ep-5f) * square
                     + 0x1.110ceep-3f) * square - 0x1.55554ap-2f;
    const float near = x + x * square * p;
    /* e^(2x) as in exp_f32; it does not overflow, nor does 2^n */
    const float twice = 2.0f * limited_f32(x, 9.2f);
    const float sum = twice * 0x1.715476p+0f + 0x1.8000fep+23f;
    const float n = sum - 0x1.8000fep+23f;
    const float r = twice - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f;
    const float q = (((0x1.6a3fb4p-10f * r + 0x1.1239e0p-7f) * r + 0x1.5558bep-5f) * r + 0x1.555492p-3f) * r
                    + 0x1.fffffcp-2f;
    const float power = (1.0f + (r + r * r * q)) * f32_of_bits(f32_bits(sum) << 23);
    const float far = 1.0f - 2.0f / (1.0f + power);

    return f32_of_bits(f32_bits(choose_f32(x >= 0.55f, far, near)) | sign);
}

#endif
