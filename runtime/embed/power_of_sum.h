#include <stdint.h>

/* A power of sum / 2^unit >= 1, in 2^-31: that of 1 + k / 256, k = 0 .. 256, by linear interpolation, times that
 * of 2^0, 2^1 ... unit <= 61, sum < 2^63. */
static int64_t power_of_sum(uint64_t sum, int unit, const uint32_t *powers, const uint32_t *exponents)
{
    int exponent = 0;
    uint64_t fraction, k, rest, power;

    while (sum >> unit >> exponent > 1)
        exponent++;
    fraction = sum << (63 - unit - exponent);
    k = fraction >> 55 & 255;
    rest = fraction >> 39 & 65535;
    power = powers[k] - ((powers[k] - powers[k + 1]) * rest >> 16);
    return (int64_t)(power * exponents[exponent] >> 31);
}
