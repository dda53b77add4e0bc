#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/inline_f32.h"

/* v truncated towards zero, saturated; NaN becomes 0. */
INLINE_F32 int32_t f32_to_i32(float v)
{
    const int above = v >= 2147483648.0f, below = v < -2147483648.0f, fits = !above & !below & (v <= v);
    const uint32_t whole = (uint32_t)(int32_t)choose_f32(fits, v, 0.0f);

    return (int32_t)(whole | ((0u - (uint32_t)above) & 0x7fffffffu) | ((0u - (uint32_t)below) & 0x80000000u));
}
