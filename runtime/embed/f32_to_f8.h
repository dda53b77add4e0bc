#include <stdint.h>

/* The FP8 code nearest to v, ties to even. Codes of the greatest number, of what is beyond, and of NaN;
 * nan 128: the format has no -0, its place is NaN's. */
static uint8_t f32_to_f8(float v, int mantissa_bits, int bias, uint32_t greatest, uint32_t overflow,
                         uint32_t nan)
{
    const union {
        float number;
        uint32_t bits;
    } from = { v };
    const uint32_t number = from.bits & 0x7FFFFFFFu, sign = from.bits >> 24 & 128u;
    const uint32_t significand = (number & 0x7FFFFFu) | 0x800000u;
    const int beyond_least = (int)(number >> 23) - (128 - bias); /* < 0: subnormal */
    const int steps = 23 - mantissa_bits - (beyond_least < 0 ? beyond_least : 0);
    const int cut = steps < 31 ? steps : 31;
    const uint32_t odd = significand >> cut & 1u;
    uint32_t code = (significand + (1u << (cut - 1)) - 1u + odd) >> cut;

    if (beyond_least > 0)
        code += (uint32_t)beyond_least << mantissa_bits;
    if (code > greatest)
        code = overflow;
    if (number > 0x7F800000u)
        code = nan;
    return (uint8_t)(code == 0 && nan == 128u ? 0u : sign | code);
}
