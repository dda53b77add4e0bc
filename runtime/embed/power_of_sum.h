#include <stdint.h>

/* A power of sum / 2^unit, which is 1 or more, in 2^-31: those of 1 + k / 256, k = 0 .. 256, linear between two
 * of them, times those of 2^0, 2^1 ... unit at most 61, sum below 2^63. */
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
