#include <stdint.h>

#include "runtime/embed/inverse_root.h"

/* 1 / sqrt(V + epsilon * 2^exponent) = result / 2^*shift, for n numbers of a given sum and sum of squares: V = n
 * * squares - sum^2, n^2 times their variance, below 2^90. V is kept in 60 bits, as is epsilon, which is 0 or at
 * least 2^60; exponent is even. The result has at most 31 bits; it is 0 if V + epsilon is. */
static int32_t inverse_deviation(uint32_t n, int64_t sum, uint64_t squares, uint64_t epsilon, int exponent,
                                 int *shift)
{
    const uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    const uint64_t upper = magnitude >> 32, lower = (uint32_t)magnitude;
    const uint64_t low = (uint64_t)(uint32_t)squares * n, square = lower * lower;
    uint64_t v = (squares >> 32) * n + (low >> 32) - ((upper * upper << 32) + 2 * upper * lower + (square >> 32));
    uint32_t rest = (uint32_t)low - (uint32_t)square, root; /* V = v * 2^32 + rest */
    int exponent_v = 32;

    v -= (uint32_t)low < (uint32_t)square;
    if (v >> 32 == 0) {
        v = v << 32 | rest;
        rest = 0;
        exponent_v = 0;
    }
    for (; v >> 62 > 0; v >>= 2)
        exponent_v += 2;
    for (; v > 0 && v >> 60 == 0; rest <<= 2) {
        v = v << 2 | rest >> 30;
        exponent_v -= 2;
    }
    if (v == 0)
        exponent_v = exponent;
    if (epsilon > 0 && exponent_v < exponent) {
        v = (exponent - exponent_v < 64 ? v >> (exponent - exponent_v) : 0) + epsilon;
        exponent_v = exponent;
    } else if (epsilon > 0 && exponent_v - exponent < 64) {
        v += epsilon >> (exponent_v - exponent);
    }
    if (v == 0)
        return 0;
    root = inverse_root(v, shift);
    *shift += exponent_v / 2;
    return root >> 31 ? INT32_MAX : (int32_t)root;
}
