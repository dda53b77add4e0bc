#ifndef EMBED_GELU_TANH_F32_H
#define EMBED_GELU_TANH_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* v / 2 * (1 + tanh(u / 2)) = v / (1 + e^-u), u = sqrt(8 / pi) * (v + 0.044715 * v^3); within 2.1 ulp from -0.25
 * on, below that within 2^-24, as u is rounded. */
INLINE_F32 float gelu_tanh_f32(float v)
{
    const float u = v * (0x1.988454p+0f + 0x1.2444f2p-4f * (v * v));
    const float power = exp_negative_f32(f32_of_bits(f32_bits(u) | 0x80000000u)); /* e^-|u| */

    return choose_f32(v < 0.0f, v * power, v) / (1.0f + power);
}

#endif
