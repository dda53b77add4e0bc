#ifndef EMBED_MISH_F32_H
#define EMBED_MISH_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/inline_f32.h"

/* v * tanh(log(1 + e^v)), off by 4 ulp at most (results below 2^-119: of that number's);
 * tanh(log(a)) = (a^2 - 1) / (a^2 + 1), here without overflow. */
INLINE_F32 float mish_f32(float v)
{
    const float power = exp_f32(f32_of_bits(f32_bits(v) | 0x80000000u)); /* e^-|v| */
    const float above = choose_f32(v < 0.0f, power * (power + 2.0f), 1.0f + 2.0f * power);
    const float rest = choose_f32(v < 0.0f, 2.0f, 2.0f * power * power);

    return v * (above / (above + rest));
}

#endif
