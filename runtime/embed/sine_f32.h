#ifndef EMBED_SINE_F32_H
#define EMBED_SINE_F32_H

#include <stdint.h>

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/turns_f32.h"

/* The sine of |v| + quarters * pi / 2. Without branches on CPUs with vectors, so that loops around it are
 * vectorised. Comparisons are bits of differences: x86 comparison results are slow to become numbers. */
INLINE_F32 float sine_f32(float v, uint32_t quarters)
{
    const uint32_t magnitude = f32_bits(v) & 0x7fffffffu;
    const uint32_t near = (magnitude - 0x3f490fdbu) >> 31; /* below pi / 4 */
    uint32_t quarter = quarters, minus = 0;
    float angle = 0.0f;

#if defined __AVX2__ || defined __aarch64__ || defined __riscv_vector
    const int reduces = 1; /* no branch */
#else
    const int reduces = !near;
#endif

    if (reduces) {
        const uint64_t turns = turns_f32(v);
        const uint32_t high = (uint32_t)(turns >> 32);
        const uint32_t whole = ((high + 0x20000000u) >> 30) & (near - 1), rest = high - (whole << 30);
        /* The rest of a quarter, at most 1/2, without its sign and in three floats; times pi / 2, of which the
         * first 12 bits make exact products. */
        const uint32_t sign = 0u - (rest >> 31), left = rest ^ sign, low = ((uint32_t)turns ^ sign) >> 1;
        const float head = (float)(int32_t)(left & ~0x3ffffu), middle = (float)(int32_t)(left & 0x3ffffu);
        const float tail = (float)(int32_t)low * 0x1.921fb6p-61f;

        angle = head * 0x1.922p-30f + (middle * 0x1.921fb6p-30f + tail - head * 0x1.2aeef4p-48f);
        quarter += whole;
        minus = sign & 0x80000000u;
    }
    {
        const float r = f32_of_bits(f32_bits(choose_f32((int)near, f32_of_bits(magnitude), angle)) ^ minus);
        const float square = r * r;
        const float sine = r + r * square * ((-0x1.994222p-13f * square + 0x1.110736p-7f) * square - 0x1.555546p-3f);
        const float cosine = 1.0f - 0.5f * square
                             + square * square
                                   * ((0x1.99ea02p-16f * square - 0x1.6c0c2ep-10f) * square + 0x1.55554ap-5f);
        const uint32_t result = f32_bits(choose_f32((int)(quarter & 1), cosine, sine)) ^ (quarter & 2) << 30;

        return choose_f32((int)((magnitude - 0x7f800000u) >> 31), f32_of_bits(result), v - v);
    }
}

#endif
