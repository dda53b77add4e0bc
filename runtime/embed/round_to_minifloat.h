#ifndef EMBED_ROUND_TO_MINIFLOAT_H
#define EMBED_ROUND_TO_MINIFLOAT_H

#include <stdint.h>

/* The minifloat nearest to magnitude * 2^exponent steps of the format's least value, ties to even. greatest: the
 * bits of the largest finite value, to which results saturate; negative: the sign bit, or 0. Zero has no sign.
 * A format without a sign has 256 for one: what is negative becomes 0. */
static uint8_t round_to_minifloat(uint64_t magnitude, int exponent, int mantissa_bits, uint32_t greatest,
                                  uint32_t negative)
{
    uint32_t high = (uint32_t)(magnitude >> 32), low = (uint32_t)magnitude, code, rest, half;
    int shifted = 0, top, spacing, cut;

    if (magnitude == 0)
        return 0;
    if (high == 0) {
        high = low;
        low = 0;
        exponent -= 32;
    }
    for (int step = 16; step > 0; step /= 2)
        if (high >> (32 - step) == 0) {
            high <<= step;
            shifted += step;
        }
    if (shifted > 0) {
        high |= low >> (32 - shifted);
        low <<= shifted;
    }
    high |= low != 0; /* sticky bit */
    top = 63 + exponent - shifted; /* the value is 2^top to 2^(top + 1) steps */
    spacing = top > mantissa_bits ? top - mantissa_bits : 0; /* of values there: 2^spacing steps */
    cut = spacing - top + 31;
    if (cut > 31) {
        code = cut == 32 && high > 0x80000000u;
    } else {
        half = (uint32_t)1 << (cut - 1);
        rest = high & (2 * half - 1);
        code = high >> cut;
        code += rest > half || (rest == half && code % 2 == 1);
    }
    code += (uint32_t)spacing << mantissa_bits;
    code = code > greatest ? greatest : code;
    return (uint8_t)(code == 0 || negative == 256 ? 0 : code | negative);
}

#endif
