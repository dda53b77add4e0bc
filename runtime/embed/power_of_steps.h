#include <stdint.h>

/* exp(-d * scale) * 2^31 for d < 65536, from a table of 256 entries for d = 0 .. 255 and 256 for 0, 256, 512 ..
 * 65280. */
static uint32_t power_of_steps(int32_t d, const uint32_t *powers)
{
    return (uint32_t)((uint64_t)powers[256 + (d >> 8)] * powers[d & 255] >> 31);
}
