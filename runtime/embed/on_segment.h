#include <stdint.h>

#include "runtime/embed/shift_down.h"

/* A piecewise linear function of n segments: for the last start that is not above x, lines[2 * k] + lines[2 * k +
 * 1] * (x - start), which is below 2^30. Divided by 2^bits, rounded to nearest, ties up. */
static int32_t on_segment(int32_t x, const uint16_t *starts, const int32_t *lines, int n, int bits)
{
    int32_t v;
    int k = 0;

    while (n > 1) {
        const int half = n / 2;

        if (starts[k + half] <= x) {
            k += half;
            n -= half;
        } else {
            n = half;
        }
    }
    v = lines[2 * k] + lines[2 * k + 1] * (x - starts[k]);
    return shift_down(v + ((int32_t)1 << (bits - 1)), bits);
}
