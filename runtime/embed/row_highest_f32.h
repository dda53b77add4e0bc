#include "runtime/embed/greatest_of_32_f32.h"

/* The maximum of n > 0 floats without NaN: one comparison each, where row_max_f32 takes three. With NaN, any of
 * them, or NaN. */
static float row_highest_f32(const float *x, int n)
{
    float best[32];

    for (int lane = 0; lane < 32; lane++)
        best[lane] = x[n >= 32 ? n - 32 + lane : lane < n ? lane : 0];
    for (int i = 0; i + 32 < n; i += 32)
        for (int lane = 0; lane < 32; lane++)
            best[lane] = x[i + lane] > best[lane] ? x[i + lane] : best[lane];
    return greatest_of_32_f32(best);
}
