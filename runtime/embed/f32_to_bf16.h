#include <stdint.h>

#include "runtime/embed/f32_bits.h"

/* f32 to bfloat16, rounded to nearest, ties to even; NaN stays NaN. */
static uint16_t f32_to_bf16(float v)
{
    const uint32_t bits = f32_bits(v);

    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}
