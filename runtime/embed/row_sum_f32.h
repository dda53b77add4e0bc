#include "runtime/embed/sum_of_16_f32.h"

/* The sum of n floats, in 16 interleaved sums: element i goes to sum i % 16. */
static float row_sum_f32(const float *x, int n)
{
    float sum[16] = { 0 };
    int i = 0;

    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++)
            sum[lane] += x[i + lane];
    for (int lane = 0; i + lane < n; lane++)
        sum[lane] += x[i + lane];
    return sum_of_16_f32(sum);
}
