#include <stdint.h>

#include "runtime/embed/apart_f32.h"
#include "runtime/embed/f32_bits.h"

/* x * factor, rounded to f32 and then to the nearest whole number, ties to even, plus zero; within least ..
 * greatest, numbers of 16 bits. With 1.5 * 2^23 added to it a float has its whole number in its last bits; what is
 * beyond the limits stays beyond them, as the bits of floats are in their order. */
static inline int32_t requantize_even(int32_t x, float factor, int32_t zero, int32_t least, int32_t greatest)
{
    const int32_t middle = 0x4B400000 - zero, low = middle + least, high = middle + greatest;
    float product = (float)x * factor;
    int32_t bits;

    APART_F32(product)
    bits = (int32_t)f32_bits(product + 12582912.0f);
    return (bits < low ? low : bits > high ? high : bits) - middle;
}
