#include <stdint.h>

#include "runtime/embed/requantize_once.h"

/* As requantize_once, but factors below 1/2 (shift < 0) are rounded twice, as TensorFlow Lite and CMSIS-NN do:
 * first the product / 2^31, then that shifted right, to nearest, ties away from zero. */
static int32_t requantize(int64_t x, int32_t multiplier, int shift)
{
    const int right = shift < 0 ? -shift : 0;
    const int32_t high = requantize_once(x, multiplier, shift + right);
    const uint32_t magnitude = high < 0 ? 0u - (uint32_t)high : (uint32_t)high;
    const int64_t rounded = (magnitude + (((uint32_t)1 << right) >> 1)) >> right;

    return (int32_t)(high < 0 ? -rounded : rounded);
}
