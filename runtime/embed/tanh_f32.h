#ifndef EMBED_TANH_F32_H
#define EMBED_TANH_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* The hyperbolic tangent, off by 1.6 ulp at most: a series up to 0.55, then 1 - 2 / (e^(2|v|) + 1). */
INLINE_F32 float tanh_f32(float v)
{
    const uint32_t sign = f32_bits(v) & 0x80000000u;
    const float x = f32_of_bits(f32_bits(v) ^ sign), square = x * x;
    const float p = (((-0x1.9921a2p-8f * square + 0x1.58e518p-6f) * square - 0x1.b91e7ep-5f) * square
                     + 0x1.110ceep-3f) * square - 0x1.55554ap-2f;
    const float power = exp_f32(-2.0f * x);
    const float near = x + x * square * p, far = 1.0f - 2.0f * power / (1.0f + power);

    return f32_of_bits(f32_bits(choose_f32(x < 0.55f, near, far)) | sign);
}

#endif
