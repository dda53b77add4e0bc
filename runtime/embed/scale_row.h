#include <stdint.h>

/* Multiplies numbers first .. first + n - 1 of a row by the power of two that their block of `len`
 * shares: 2^(scale[block] - 127). */
static void scale_row(const uint8_t *scale, int len, int first, int n, float *number)
{
    for (int i = 0; i < n; i++) {
        const uint32_t exponent = scale[(first + i) / len];
        union {
            uint32_t bits;
            float number;
        } power;

        power.bits = exponent ? exponent << 23 : 0x400000u;
        number[i] *= power.number;
    }
}
