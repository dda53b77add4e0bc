#ifndef EMBED_MISH_F32_H
#define EMBED_MISH_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_parts_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* v * tanh(log(1 + e^v)), off by 2.3 ulp at most (results below 2^-119: of that number's). With power = e^-|v|:
 * v - v * 2 * power^2 / (1 + 2 * power + 2 * power^2) from 0 on,
 * v * power * (1 + power / 2) / (1 + power + power^2 / 2) below; a series from -0.58 to 0. */
INLINE_F32 float mish_f32(float v)
{
    const float p = ((((0x1.3a8774p-9f * v + 0x1.1e8adep-7f) * v - 0x1.2f4632p-14f) * v - 0x1.775092p-5f) * v
                     - 0x1.061344p-6f) * v + 0x1.47ae1cp-2f;
    const float near = v * (0.5f + (0.1f + v * p));
    const float x = limited_f32(f32_of_bits(f32_bits(v) | 0x80000000u), 176.0f); /* -|v| */
    const struct exp_parts parts = exp_parts_f32(x, 0);
    const float power = (1.0f + parts.less) * parts.factor * parts.rest;
    const float square = 2.0f * (power * power);
    const float most = choose_f32(v < 0.0f, power + 0.25f * square, 2.0f * power + square);
    const float sum = 1.0f + most, lost = most - (sum - 1.0f);
    /* x * e^x / factors, and what it was rounded by */
    const float more = x * parts.less, product = x + more, rounded = more - (product - x);
    const float below = (product + (rounded + product * (0.5f * power - lost))) * parts.factor;
    const float quotient = choose_f32(v < 0.0f, below, square) / sum;
    const float negative = choose_f32(v > -0.58f, near, quotient * parts.rest);

    return choose_f32(v < 0.0f, negative, v + x * quotient);
}

#endif
