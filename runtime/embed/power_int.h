#include "runtime/embed/power_uint.h"

/* base^exponent, wrapping; a fraction is truncated to 0. */
static int64_t power_int(int64_t base, int64_t exponent)
{
    if (exponent >= 0)
        return (int64_t)power_uint((uint64_t)base, (uint64_t)exponent);
    if (base == -1)
        return exponent % 2 != 0 ? -1 : 1;
    return base == 1;
}
