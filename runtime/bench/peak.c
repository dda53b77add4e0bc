/* peak.c - what the core can do at most with these compiler flags: multiplications and additions of
 * floats in registers, twelve independent chains, so that the latency of none is waited for. */
#include "peak.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#elif defined(__SSE__) || defined(__ARM_NEON) || defined(__riscv_vector) ||                        \
    defined(__wasm_simd128__)
enum { LANES = 4 };
#else
enum { LANES = 1 };
#define SCALAR
#endif

#ifdef SCALAR
typedef float vector;
#else
typedef float vector __attribute__((vector_size(sizeof(float) * LANES)));
#endif

enum { CHAINS = 12 };

double peak_flops(long rounds)
{
    return 2.0 * CHAINS * LANES * (double)rounds;
}

float peak_run(long rounds, float factor, float term)
{
    const vector f = (vector){ 0 } + factor, t = (vector){ 0 } + term;
    /* Each chain its own start: equal ones would be computed once. */
    vector a = t, b = t + a, c = t + b, d = t + c, e = t + d, g = t + e, h = t + g, i = t + h;
    vector j = t + i, k = t + j, l = t + k, m = t + l;
    union {
        vector v;
        float at[LANES];
    } sum;

    for (long n = 0; n < rounds; n++) {
        a = a * f + t;
        b = b * f + t;
        c = c * f + t;
        d = d * f + t;
        e = e * f + t;
        g = g * f + t;
        h = h * f + t;
        i = i * f + t;
        j = j * f + t;
        k = k * f + t;
        l = l * f + t;
        m = m * f + t;
    }
    sum.v = a + b + c + d + e + g + h + i + j + k + l + m;
    return sum.at[0];
}
