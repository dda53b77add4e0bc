#include <stdint.h>

/* Whether minifloat a is greater than b, or NaN. last: the greatest bits that are not NaN (infinity included);
 * nan: those of NaN; negative: the sign bit. */
static int minifloat_above(uint32_t a, uint32_t b, uint32_t last, uint32_t nan, uint32_t negative)
{
    const uint32_t a_size = a & (negative - 1), b_size = b & (negative - 1);

    if (a_size > last || a == nan)
        return 1;
    if (b_size > last || b == nan)
        return 0;
    return (a & negative ? -(int)a_size : (int)a_size) > (b & negative ? -(int)b_size : (int)b_size);
}
