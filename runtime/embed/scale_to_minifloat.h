#include <stdint.h>

#include "runtime/embed/round_to_minifloat.h"

/* The minifloat nearest to x * multiplier * 2^shift steps; see round_to_minifloat. Of the product's 95 bits the
 * upper 64 are kept, with a sticky bit for the others. negative: the sign bit. */
static uint8_t scale_to_minifloat(int64_t x, int32_t multiplier, int shift, int mantissa_bits,
                                  uint32_t greatest, uint32_t negative)
{
    const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    const uint64_t low = (uint64_t)(uint32_t)magnitude * (uint32_t)multiplier;
    const uint64_t high = (magnitude >> 32) * (uint32_t)multiplier + (low >> 32);
    const uint32_t sign = x < 0 ? negative : 0;

    if (high >> 32)
        return round_to_minifloat(high | ((uint32_t)low != 0), shift + 32, mantissa_bits, greatest, sign);
    return round_to_minifloat(high << 32 | (uint32_t)low, shift, mantissa_bits, greatest, sign);
}
