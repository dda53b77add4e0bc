#ifndef EMBED_SOFTPLUS_F32_H
#define EMBED_SOFTPLUS_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/inline_f32.h"

/* log(1 + e^v) without overflow, as max(v, 0) + log(1 + e^-|v|), within 1.8 ulp; 0 below 2^-126. */
INLINE_F32 float softplus_f32(float v)
{
    const float power = exp_negative_f32(f32_of_bits(f32_bits(v) | 0x80000000u));
    /* 1 + power = 1 + f, or 2 * (1 + f) */
    const int twice = power > 0.4375f;
    const float f = choose_f32(twice, 0.5f * power - 0.5f, power);
    const float square = f * f, fourth = square * square;
    /* log(1 + f) = f - f^2/2 + f^3 * (1/3 - ...) */
    const float upper = 0x1.f244d8p-5f * fourth + ((-0x1.cf4028p-4f * f + 0x1.eab908p-4f) * square
                                                   + (-0x1.fecf5cp-4f * f + 0x1.23267ep-3f));
    const float p = upper * fourth + ((-0x1.554918p-3f * f + 0x1.99a4b0p-3f) * square
                                      + (-0x1.000030p-2f * f + 0x1.555548p-2f));
    const float log_rest = f - (0.5f * square - f * square * p);

    return choose_f32(v > 0.0f, v, 0.0f) + (log_rest + choose_f32(twice, 0x1.62e430p-1f, 0.0f));
}

#endif
