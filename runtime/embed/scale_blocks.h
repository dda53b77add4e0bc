#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"

/* Multiplies values [n, 4] by block scales that are powers of two: value (k, j) by 2^(scale[k * k_step + j *
 * j_step] - 127). */
static void scale_blocks(const uint8_t *scale, int k_step, int j_step, int n, float *number)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 4; j++) {
            const uint32_t exponent = scale[k * k_step + j * j_step];

            number[k * 4 + j] *= f32_of_bits(exponent ? exponent << 23 : 0x400000u);
        }
}
