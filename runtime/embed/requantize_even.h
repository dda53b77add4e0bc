#include <stdint.h>

#include "runtime/embed/apart_f32.h"
#include "runtime/embed/f32_bits.h"

/* x * factor, rounded to f32, then to the nearest integer, ties to even; plus zero; clamped to least .. greatest,
 * 16-bit numbers. Adding 1.5 * 2^23 puts a float's integer into its low bits; the bits of values beyond the
 * limits stay beyond, as float bits are ordered. */
static inline int32_t requantize_even(int32_t x, float factor, int32_t zero, int32_t least, int32_t greatest)
{
    const int32_t middle = 0x4B400000 - zero, low = middle + least, high = middle + greatest;
    const float product = apart_f32((float)x * factor);
    const int32_t bits = (int32_t)f32_bits(product + 12582912.0f);

    return (bits < low ? low : bits > high ? high : bits) - middle;
}
