#include <stdint.h>

/* log(sum / 2^31) for sum >= 2^31, by linear interpolation in a table of log(1 + k / 256), k = 0 .. 256, in the
 * table's unit. */
static uint64_t log_of_sum(uint64_t sum, const uint32_t *logs)
{
    int exponent = 31;
    uint64_t fraction, k, rest;

    while (sum >> exponent > 1)
        exponent++;
    fraction = sum << (63 - exponent);
    k = fraction >> 55 & 255;
    rest = fraction >> 39 & 65535;
    return (uint64_t)(exponent - 31) * logs[256] + logs[k] + ((uint64_t)(logs[k + 1] - logs[k]) * rest >> 16);
}
