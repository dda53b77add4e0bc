#ifndef EMBED_SILU_F32_H
#define EMBED_SILU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_parts_f32.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_magnitude_f32.h"

/* v / (1 + e^-v), v * e^v / (1 + e^v) below 0; off by 2 ulp at most, 0 in place of results below 2^-119. */
INLINE_F32 float silu_f32(float v)
{
    const float x = -limited_magnitude_f32(v, 88.0f);
    const struct exp_parts parts = exp_parts_f32(x, 0);
    const float rest = 1.0f + parts.less, power = rest * parts.factor; /* e^-|v| */
    const float sum = 1.0f + power, lost = power - (sum - 1.0f);
    /* x * e^x, less by what the sum lost */
    const float start = x * parts.factor, below = start + start * (parts.less - rest * lost);

    return choose_f32(v < 0.0f, below, v) / sum;
}

#endif
