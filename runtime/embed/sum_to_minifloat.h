#include <stdint.h>

#include "runtime/embed/round_to_minifloat.h"

/* The minifloat nearest to sum * 2^shift steps; see round_to_minifloat. negative: the sign bit. */
static uint8_t sum_to_minifloat(int64_t sum, int shift, int mantissa_bits, uint32_t greatest,
                                uint32_t negative)
{
    return round_to_minifloat(sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum, shift, mantissa_bits, greatest,
                              sum < 0 ? negative : 0);
}
