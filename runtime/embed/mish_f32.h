#ifndef EMBED_MISH_F32_H
#define EMBED_MISH_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_parts_f32.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* v * tanh(log(1 + e^v)), within 2 ulp; results below 2^-119 become 0. With power = e^-|v|: v - v * 2 * power^2 /
 * (1 + 2 * power + 2 * power^2) from 0.26 on, v * power * (1 + power / 2) / (1 + power + power^2 / 2) below
 * -0.64; a polynomial between. */
INLINE_F32 float mish_f32(float v)
{
    const float p = (((((-0x1.42df22p-11f * v + 0x1.2f258ep-10f) * v + 0x1.fef80ep-8f) * v - 0x1.ab91a0p-12f) * v
                      - 0x1.77c21ap-5f) * v - 0x1.062136p-6f) * v + 0x1.47ae18p-2f;
    const float near = v * (0.5f + (0.1f + v * p));
    const float x = limited_magnitude_f32(v, 88.0f);
    const struct exp_parts parts = exp_parts_f32(-x, 0);
    const float power = parts.factor + parts.factor * parts.less;
    const float square = 2.0f * (power * power);
    const float most = choose_f32(v < 0.0f, power + 0.25f * square, 2.0f * power + square);
    const float sum = 1.0f + most, lost = most - (sum - 1.0f);
    /* x * e^-x / factor, and its rounding error */
    const float more = x * parts.less, product = x + more, rounded = more - (product - x);
    const float below = (product + (rounded + product * (0.5f * power - lost))) * parts.factor;
    const float quotient = choose_f32(v < 0.0f, below, x * square) / sum;
    const float negative = choose_f32(v > -0.64f, near, -quotient);

    return choose_f32(v < 0.26f, negative, v - quotient);
}

#endif
