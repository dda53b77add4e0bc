#ifndef EMBED_SUM_OF_16_F32_H
#define EMBED_SUM_OF_16_F32_H

/* A tree of additions. gcc turns the loop into branches on `half`, so that it is written out for CPUs with
 * vectors. */
static inline float sum_of_16_f32(float sum[16])
{
#if defined __SSE2__ || (defined __ARM_NEON && defined __aarch64__)
    typedef float four_f32 __attribute__((vector_size(16), aligned(4), may_alias));
    const four_f32 *const fours = (const four_f32 *)sum;
    const four_f32 last = (fours[0] + fours[2]) + (fours[1] + fours[3]);

    return (last[0] + last[2]) + (last[1] + last[3]);
#else
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            sum[lane] += sum[lane + half];
    return sum[0];
#endif
}

#endif
