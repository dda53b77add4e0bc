#include "runtime/embed/greatest_of_32_f32.h"

/* The greatest of n > 0 numbers, NaN if there is one. 32 side by side: of 16, gcc makes 16 scalars. */
static float row_max_f32(const float *x, int n)
{
    float best[32];

    for (int lane = 0; lane < 32; lane++)
        best[lane] = x[n >= 32 ? n - 32 + lane : lane < n ? lane : 0];
    for (int i = 0; i + 32 < n; i += 32)
        for (int lane = 0; lane < 32; lane++) {
            const float v = x[i + lane], b = best[lane];

            best[lane] = ((v > b) | (v != v)) ? v : b;
        }
    return greatest_of_32_f32(best);
}
