#ifndef EMBED_SIGMOID_F32_H
#define EMBED_SIGMOID_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/inline_f32.h"

/* 1 / (1 + e^-v), within 1.9 ulp: 1 - power / (1 + power) for v >= 0, else power times the quotient; 0 below
 * 2^-126. */
INLINE_F32 float sigmoid_f32(float v)
{
    const float power = exp_negative_f32(f32_of_bits(f32_bits(v) | 0x80000000u)); /* e^-|v| */
    const float most = choose_f32(v < 0.0f, power, 1.0f);

    return most - most * (power / (1.0f + power));
}

#endif
