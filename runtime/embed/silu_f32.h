#ifndef EMBED_SILU_F32_H
#define EMBED_SILU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_parts_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* v / (1 + e^-v), v * e^v / (1 + e^v) below 0; off by 1.85 ulp at most (results below 2^-119: of that number's). */
INLINE_F32 float silu_f32(float v)
{
    const float x = limited_f32(f32_of_bits(f32_bits(v) | 0x80000000u), 176.0f);
    const struct exp_parts parts = exp_parts_f32(x, 0);
    const float power = (1.0f + parts.less) * parts.factor * parts.rest; /* e^-|v| */
    const float sum = 1.0f + power, lost = power - (sum - 1.0f);
    /* x * e^x / factors, and what it was rounded by */
    const float more = x * parts.less, product = x + more, rounded = more - (product - x);
    const float below = (product - (product * lost - rounded)) * parts.factor;
    const float quotient = choose_f32(v < 0.0f, below, v) / sum;

    return quotient * choose_f32(v < 0.0f, parts.rest, 1.0f);
}

#endif
