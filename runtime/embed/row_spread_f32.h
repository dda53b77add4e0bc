#include "runtime/embed/sum_of_16_f32.h"

/* The sum of (x - mean)^2 of n floats, in 16 interleaved sums. */
static float row_spread_f32(const float *x, int n, float mean)
{
    float sum[16] = { 0 };
    int i = 0;

    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++)
            sum[lane] += (x[i + lane] - mean) * (x[i + lane] - mean);
    for (int lane = 0; i + lane < n; lane++)
        sum[lane] += (x[i + lane] - mean) * (x[i + lane] - mean);
    return sum_of_16_f32(sum);
}
