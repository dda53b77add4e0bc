#include <stdint.h>

/* x * factor / 2^shift, to nearest, ties up: x of 48 bits, the factor of 16. */
static int32_t requantize_wide(int64_t x, int32_t factor, int shift)
{
    const int64_t product = x * factor + ((int64_t)1 << (shift - 1));

    return (int32_t)(product < 0 ? ~(~product >> shift) : product >> shift);
}
