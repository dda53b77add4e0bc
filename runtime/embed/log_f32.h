#ifndef EMBED_LOG_F32_H
#define EMBED_LOG_F32_H

#include <math.h>
#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* The natural logarithm, within 0.85 ulp. Without branches, so that loops around it are vectorised. */
INLINE_F32 float log_f32(float v)
{
    /* v = 2^n * (1 + f), 1 + f in sqrt(1/2) .. sqrt(2); subnormals are multiplied by 2^23 first. */
    const uint32_t subnormal = f32_bits(v) < 0x00800000u;
    const float scaled = v * f32_of_bits(0x3f800000u + subnormal * 0x0b800000u);
    const uint32_t bits = f32_bits(scaled) + 0x004afb0du;
    const float n = (float)((int32_t)(bits >> 23) - 127 - 23 * (int32_t)subnormal);
    const float f = f32_of_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float square = f * f, fourth = square * square;
    /* log(1 + f) = f - f^2/2 + f^3 * (1/3 - ...), in pairs of terms, for parallelism */
    const float upper = 0x1.147334p-4f * fourth + ((-0x1.de01d8p-4f * f + 0x1.e6c00ap-4f) * square
                                                   + (-0x1.fc28cap-4f * f + 0x1.233ba2p-3f));
    const float p = upper * fourth + ((-0x1.555c44p-3f * f + 0x1.99a476p-3f) * square
                                      + (-0x1.000006p-2f * f + 0x1.555548p-2f));
    const float number = n * 0x1.62e4p-1f + (f - (0.5f * square - (f * square * p + n * 0x1.7f7d1cp-20f)));
    const float above = choose_f32(v < INFINITY, number, v); /* infinity, or NaN */

    return choose_f32(v > 0.0f, above, choose_f32(v == 0.0f, -INFINITY, NAN));
}

#endif
