#include <stdint.h>

/* The number of an FP8 code. greatest: the code of the greatest number; nan: of NaN. No f32 subnormals
 * on the way: processors flush them, or take their time. */
static float f8_to_f32(uint8_t code, int mantissa_bits, int bias, uint32_t greatest, uint32_t nan)
{
    const uint32_t magnitude = code & 127u, infinity = 0x7F800000u;
    union {
        uint32_t bits;
        float number;
    } v, unit;

    unit.bits = (uint32_t)(128 - bias - mantissa_bits) << 23;
    if (magnitude >> mantissa_bits)
        v.bits = (magnitude << (23 - mantissa_bits)) + ((uint32_t)(127 - bias) << 23);
    else
        v.number = (float)magnitude * unit.number; /* subnormal */
    if (magnitude > greatest)
        v.bits = magnitude == greatest + 1u && nan != greatest + 1u ? infinity : infinity | 0x400000u;
    if (code == nan)
        v.bits = infinity | 0x400000u;
    v.bits |= (uint32_t)(code & 128u) << 24;
    return v.number;
}
