#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/sum_of_16_f32.h"

/* The sum of e^(x - highest) of n floats, in 16 interleaved sums. */
static float row_powers_f32(const float *x, int n, float highest)
{
    float sum[16] = { 0 };
    int i = 0;

    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++)
            sum[lane] += exp_negative_f32(x[i + lane] - highest);
    for (int lane = 0; i + lane < n; lane++)
        sum[lane] += exp_negative_f32(x[i + lane] - highest);
    return sum_of_16_f32(sum);
}
