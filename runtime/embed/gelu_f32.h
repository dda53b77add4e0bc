#ifndef EMBED_GELU_F32_H
#define EMBED_GELU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_parts_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* v * c(v), c the normal distribution function, within 2 ulp; results below 2^-119 become 0. A polynomial around
 * 0; elsewhere x * c(-x) = e^(-x^2/2 + q((x - 1.25) / (x + 1))) / 4, x = |v|. q is evaluated in pairs of terms,
 * for parallelism. */
INLINE_F32 float gelu_f32(float v)
{
    const float square = v * v;
    const float p = (((0x1.9aa9a6p-14f * square - 0x1.33f896p-10f) * square + 0x1.46af10p-7f) * square
                     - 0x1.1057aep-4f) * square + 0x1.988452p-2f;
    const float near = v * (0.5f + v * p);
    const float x = limited_magnitude_f32(v, 13.3f);
    const float u = (x - 1.25f) / (x + 1.0f), u2 = u * u, u4 = u2 * u2;
    const float high = (-0x1.a8f040p-8f * u - 0x1.095db0p-8f) * u2 + (0x1.19e21ep-5f * u - 0x1.22b2cap-5f);
    const float low = (0x1.33c232p-4f * u - 0x1.c9844ap-4f) * u2 + (0x1.c7812cp-4f * u - 0x1.d87ef2p-2f);
    const float q = ((high * u4 + low) * u + 0x1.7200e8p-1f) * u - 0x1.b6046p-4f;
    /* x^2 = upper^2 + ..., with upper^2 exact */
    const float upper = f32_of_bits(f32_bits(x) & 0xfffff000u);
    const float minus = 0.5f * ((x - upper) * (x + upper)) - q;
    const struct exp_parts parts = exp_parts_f32(0.25f - 0.5f * upper * upper, minus);
    const float start = 0.25f * parts.factor, tail = start + start * parts.less;
    const float far = choose_f32(v < 0.0f, -0.0f, v) - tail;

    return choose_f32(x >= 0.74f, far, near);
}

#endif
