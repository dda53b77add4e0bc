#include "runtime/embed/exp_f32.h"

/* The sum of e^(x - highest) of n numbers, in 16 sums side by side. */
static float row_powers_f32(const float *x, int n, float highest)
{
    float sum[16] = { 0 };
    int i = 0;

    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++)
            sum[lane] += exp_f32(x[i + lane] - highest);
    for (int lane = 0; i + lane < n; lane++)
        sum[lane] += exp_f32(x[i + lane] - highest);
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
}
