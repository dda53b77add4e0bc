#include <stdint.h>

/* A code's number in steps of the least number of the format; NaN is 0. greatest: the code of the
 * greatest number; negative: the bit of the sign. */
static int32_t minifloat_steps(uint32_t code, int mantissa_bits, uint32_t greatest, uint32_t negative)
{
    const uint32_t magnitude = code & (negative - 1), exponent = magnitude >> mantissa_bits;
    const uint32_t leading = (uint32_t)1 << mantissa_bits;
    uint32_t steps = magnitude;

    if (magnitude > greatest)
        return 0;
    if (exponent > 1)
        steps = ((magnitude & (leading - 1)) | leading) << (exponent - 1);
    return code & negative ? -(int32_t)steps : (int32_t)steps;
}
