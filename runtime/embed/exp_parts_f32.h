#ifndef EMBED_EXP_PARTS_F32_H
#define EMBED_EXP_PARTS_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* e^(v - minus) = (1 + less) * factor, for |v| <= 88 and a small `minus`, the bits that v could not hold. */
struct exp_parts {
    float less;   /* -0.3 to 0.42, within little more than 1/2 ulp */
    float factor; /* a power of two; 0 below 2^-126 */
};

INLINE_F32 struct exp_parts exp_parts_f32(float v, float minus)
{
    struct exp_parts parts;
    /* v - minus = n * log(2) + r, n an integer. The sum's last bit is worth 1, so its low bits hold n + 127. */
    const float sum = (v - minus) * 0x1.715476p+0f + 0x1.8000fep+23f;
    const float n = sum - 0x1.8000fep+23f;
    const float head = v - n * 0x1.62e4p-1f, tail = n * 0x1.7f7d1cp-20f; /* head is exact */
    const float r = head - tail - minus, square = r * r;
    /* e^r - 1 = r + r^2 * (1/2 + ...), in pairs of terms, for parallelism */
    const float p = (0x1.6a3fb4p-10f * square + (0x1.1239e0p-7f * r + 0x1.5558bep-5f)) * square
                    + (0x1.555492p-3f * r + 0x1.fffffcp-2f);

    parts.less = head + (square * p - tail - minus);
    parts.factor = f32_of_bits(f32_bits(sum) << 23);
    return parts;
}

#endif
