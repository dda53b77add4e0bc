#include <stdint.h>

#include "runtime/embed/round_to_minifloat.h"

/* The minifloat nearest to sum * 2^exponent steps; see round_to_minifloat. */
static uint8_t steps_to_minifloat(int64_t sum, int exponent, int mantissa_bits, uint32_t greatest, uint32_t negative)
{
    return round_to_minifloat(sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum, exponent, mantissa_bits, greatest,
                              sum < 0 ? negative : 0);
}
