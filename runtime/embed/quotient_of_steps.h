#include <stdint.h>

/* a / b: |a| * multiplier * 2^15 / |b|, rounded down, then divided by 2^shift (16 .. 63), rounded to nearest,
 * ties up, with the sign. Division by 0 gives the largest number of the sign of a. */
static int64_t quotient_of_steps(int32_t a, int32_t b, int32_t multiplier, int shift)
{
    const uint64_t product = (uint64_t)(a < 0 ? -a : a) * (uint32_t)multiplier << 15;
    uint64_t quotient;

    if (b == 0)
        return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
    quotient = (product / (uint32_t)(b < 0 ? -b : b) + ((uint64_t)1 << (shift - 1))) >> shift;
    return (a < 0) == (b < 0) ? (int64_t)quotient : -(int64_t)quotient;
}
