#include <stdint.h>

#include "runtime/embed/round_to_minifloat.h"

/* The minifloat nearest to a * multiplier * 2^shift steps; see round_to_minifloat. The multiplier, 31 bits and a
 * sign, is that of b in a / b. */
static uint8_t divide_minifloat(int32_t a, int32_t multiplier, int shift, int mantissa_bits, uint32_t greatest,
                                uint32_t negative)
{
    const int64_t product = (int64_t)a * multiplier;

    return round_to_minifloat(product < 0 ? 0 - (uint64_t)product : (uint64_t)product, shift, mantissa_bits,
                              greatest, product < 0 ? negative : 0);
}
