#ifndef EMBED_DOTS_F32_H
#define EMBED_DOTS_F32_H

#include "runtime/embed/sum_of_16_f32.h"

/* dots[j] = the dot product of n floats of line[j] and x, in 16 interleaved sums: element i goes to sum i % 16.
 * Four lines at a time hide the latency of an addition. */
static void dots_f32(const float *const line[4], const float *x, int n, float dots[4])
{
    const float *const a = line[0], *const b = line[1], *const c = line[2], *const d = line[3];
    float of_a[16] = { 0 }, of_b[16] = { 0 }, of_c[16] = { 0 }, of_d[16] = { 0 };
    int i = 0;

    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++) {
            of_a[lane] += a[i + lane] * x[i + lane];
            of_b[lane] += b[i + lane] * x[i + lane];
            of_c[lane] += c[i + lane] * x[i + lane];
            of_d[lane] += d[i + lane] * x[i + lane];
        }
    for (int lane = 0; i + lane < n; lane++) {
        of_a[lane] += a[i + lane] * x[i + lane];
        of_b[lane] += b[i + lane] * x[i + lane];
        of_c[lane] += c[i + lane] * x[i + lane];
        of_d[lane] += d[i + lane] * x[i + lane];
    }
    dots[0] = sum_of_16_f32(of_a);
    dots[1] = sum_of_16_f32(of_b);
    dots[2] = sum_of_16_f32(of_c);
    dots[3] = sum_of_16_f32(of_d);
}

#endif
