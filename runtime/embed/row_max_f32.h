#include "runtime/embed/greatest_of_32_f32.h"

/* The maximum of n > 0 floats, NaN if any is NaN. 32 in parallel: gcc turns 16 into scalars. NaN is tracked
 * separately, so that an element waits for one comparison, not for two. */
static float row_max_f32(const float *x, int n)
{
    float best[32];
    int32_t is_nan[32] = { 0 };

    for (int lane = 0; lane < 32; lane++)
        best[lane] = x[n >= 32 ? n - 32 + lane : lane < n ? lane : 0];
    for (int i = 0; i + 32 < n; i += 32)
        for (int lane = 0; lane < 32; lane++) {
            const float v = x[i + lane], b = best[lane];

            best[lane] = v > b ? v : b;
            is_nan[lane] |= !(v <= v);
        }
    for (int lane = 0; lane < 32; lane++)
        best[lane] = is_nan[lane] ? f32_of_bits(0x7FC00000u) : best[lane];
    return greatest_of_32_f32(best);
}
