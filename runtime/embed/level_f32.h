#ifndef EMBED_LEVEL_F32_H
#define EMBED_LEVEL_F32_H

#include <math.h>
#include <stdint.h>

#include "runtime/embed/count_above_f32.h"
#include "runtime/embed/f32_of_order.h"
#include "runtime/embed/order_of_f32.h"

/* The minimum and maximum, or nearly so, or NaN: only the start of the search depends on them. */
static void ends_f32(const float *x, int n, float *least, float *most)
{
    enum { WAYS = 16 };
    float low[WAYS], high[WAYS];

    for (int lane = 0; lane < WAYS; lane++)
        low[lane] = high[lane] = x[0];
    for (int i = 0; i + WAYS <= n; i += WAYS)
        for (int lane = 0; lane < WAYS; lane++) {
            low[lane] = x[i + lane] < low[lane] ? x[i + lane] : low[lane];
            high[lane] = x[i + lane] > high[lane] ? x[i + lane] : high[lane];
        }
    *least = low[0];
    *most = high[0];
    for (int lane = 1; lane < WAYS; lane++) {
        *least = low[lane] < *least ? low[lane] : *least;
        *most = high[lane] > *most ? high[lane] : *most;
    }
}

/* A threshold that at most k of n > k elements are above (NaN is above all), and at least k are if those that
 * equal it count; infinity if more than k are NaN. *above: how many are. Bisects first by value, as elements
 * usually are distributed, then by order, which takes at most 32 steps. */
static float level_f32(const float *x, int n, int k, int *above)
{
    enum { BY_VALUE = 20 };
    int64_t low = -0x7f800002LL, high = 0x7f800000LL; /* below -infinity: more than k are above; infinity */
    float least, most;
    int steps = 0;

    ends_f32(x, n, &least, &most);
    *above = count_above_f32(x, n, INFINITY);
    while (*above < k && high - low > 1) {
        const float half = least / 2 + most / 2;
        const int64_t order = order_of_f32(half), middle = (low + high) / 2;
        const int64_t to = steps++ < BY_VALUE && order > low && order < high ? order : middle;
        const float t = f32_of_order((int32_t)to);
        const int count = count_above_f32(x, n, t);

        if (count > k) {
            low = to;
            least = t;
        } else {
            high = to;
            most = t;
            *above = count;
        }
    }
    return f32_of_order((int32_t)high);
}

#endif
