#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"

/* Multiplies values first .. first + n - 1 of a row with blocks of `len` by scales that are powers of two,
 * 2^(scale[block] - 127). */
static void scale_row(const uint8_t *scale, int len, int first, int n, float *number)
{
    for (int i = 0; i < n; i++) {
        const uint32_t exponent = scale[(first + i) / len];

        number[i] *= f32_of_bits(exponent ? exponent << 23 : 0x400000u);
    }
}
