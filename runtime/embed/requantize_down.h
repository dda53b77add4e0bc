#include <stdint.h>

#include "runtime/embed/shift_down.h"

/* As requantize, for shift -1 .. -31: x * multiplier / 2^31 to nearest, ties up, then shifted right, to nearest,
 * ties away from zero. Nothing branches or saturates, so that compilers can vectorise it. */
static int32_t requantize_down(int32_t x, int32_t multiplier, int shift)
{
    const int64_t product = (int64_t)x * multiplier + 0x40000000;
    const uint64_t bits = (uint64_t)product >> 31;
    const int32_t high = (int32_t)(uint32_t)bits;
    const uint32_t sign = (uint32_t)high >> 31;
    const int32_t less = high - (int32_t)sign; /* ties below zero go down */

    return shift_down(shift_down(less, -shift - 1) + 1, 1);
}
