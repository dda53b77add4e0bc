#ifndef EMBED_REQUANTIZE_ONCE_H
#define EMBED_REQUANTIZE_ONCE_H

#include <stdint.h>

#include "runtime/embed/saturate_int.h"

/* x * multiplier * 2^(shift - 31) in 32 bits: x is saturated; the product is rounded to nearest, ties up, and
 * saturated. multiplier >= 0, shift -31 .. 30. Shifting negative numbers right is implementation-defined, so they
 * are offset first. */
static int32_t requantize_once(int64_t x, int32_t multiplier, int shift)
{
    const uint32_t right = 31u - (uint32_t)shift;
    const int64_t product = (int64_t)saturate_int(x, INT32_MIN, INT32_MAX) * multiplier;
    const uint64_t lift = (uint64_t)1 << 62, half = ((uint64_t)1 << right) >> 1;
    const uint64_t rounded = ((uint64_t)product + half + lift) >> right, lifted = lift >> right;

    return saturate_int((int64_t)rounded - (int64_t)lifted, INT32_MIN, INT32_MAX);
}

#endif
