#include <stdint.h>

/* exp(-d * scale) * 2^31, d below 65536, of a table of those of 0 .. 255, and of 0, 256, 512 .. 65280. */
static uint32_t power_of_steps(int32_t d, const uint32_t *powers)
{
    return (uint32_t)((uint64_t)powers[256 + (d >> 8)] * powers[d & 255] >> 31);
}
