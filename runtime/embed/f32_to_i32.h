#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/inline_f32.h"

/* v truncated towards zero, saturated; NaN becomes 0. */
INLINE_F32 int32_t f32_to_i32(float v)
{
    const uint32_t above = v >= 2147483648.0f ? 0x7fffffffu : 0u, below = v < -2147483648.0f ? 0x80000000u : 0u;
    const float number = choose_f32(v <= v, v, 0.0f); /* no NaN */

    const int32_t whole = (int32_t)choose_f32((above | below) == 0u, number, 0.0f);
    const uint32_t bits = (uint32_t)whole | above | below;

    return (int32_t)bits;
}
