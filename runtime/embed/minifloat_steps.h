#include <stdint.h>

/* A minifloat as an integer, in steps of the format's least value; NaN is 0. greatest: the bits of the largest
 * finite value; negative: the sign bit, 256 of a format without one. */
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
