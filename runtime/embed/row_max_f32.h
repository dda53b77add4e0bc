#include <stdint.h>

#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/order_of_f32.h"

/* The greatest of n > 0 numbers, NaN if there is one. 32 side by side: of 16, gcc makes 16 scalars; then as
 * whole numbers, of which it makes no branches. */
static float row_max_f32(const float *x, int n)
{
    float best[32];
    int32_t order[32];

    for (int lane = 0; lane < 32; lane++)
        best[lane] = x[n >= 32 ? n - 32 + lane : lane < n ? lane : 0];
    for (int i = 0; i + 32 < n; i += 32)
        for (int lane = 0; lane < 32; lane++) {
            const float v = x[i + lane], b = best[lane];

            best[lane] = ((v > b) | (v != v)) ? v : b;
        }
    for (int lane = 0; lane < 32; lane++)
        order[lane] = order_of_f32(best[lane]);
    for (int half = 16; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            order[lane] = order[lane + half] > order[lane] ? order[lane + half] : order[lane];
    return f32_of_bits(order[0] < 0 ? ~(uint32_t)order[0] | 0x80000000u : (uint32_t)order[0]);
}
