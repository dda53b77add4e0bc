#include <stdint.h>

/* f32 to bfloat16, rounded to nearest, ties to even; NaN stays NaN. */
static uint16_t f32_to_bf16(float v)
{
    union {
        float number;
        uint32_t bits;
    } from;

    from.number = v;
    if ((from.bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(from.bits >> 16 | 0x40u);
    return (uint16_t)((from.bits + 0x7FFFu + (from.bits >> 16 & 1u)) >> 16);
}
