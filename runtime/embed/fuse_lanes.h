#ifndef EMBED_FUSE_LANES_H
#define EMBED_FUSE_LANES_H

#include <stdint.h>
#include <string.h>

#ifdef __GNUC__
__attribute__((unused)) /* unused if there are FMA instructions */
#endif
/* sum[i] += x[i] * w[i] for n elements, rounded once. Products are exact in double; an inexact sum is rounded to
 * odd, so that the second rounding sees no false tie. */
static void fuse_lanes(float *sum, const float *x, const float *w, int n)
{
    for (int i = 0; i < n; i++) {
        const double product = (double)x[i] * (double)w[i], before = (double)sum[i];
        const double whole = product + before, part = whole - product;
        const double lost = (product - (whole - part)) + (before - part);
        double odd = whole;
        uint64_t bits;

        (void)memcpy(&bits, &whole, sizeof bits);
        if ((lost > 0 || lost < 0) && bits % 2 == 0) {
            bits = (lost > 0) == (whole > 0) ? bits + 1 : bits - 1;
            (void)memcpy(&odd, &bits, sizeof odd);
        }
        sum[i] = (float)odd;
    }
}

#endif
