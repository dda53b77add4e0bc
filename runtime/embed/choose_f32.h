#ifndef EMBED_CHOOSE_F32_H
#define EMBED_CHOOSE_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* condition (0 or 1) ? a : b; with vectors both are computed. A compiler that must preserve traps turns ?: into a
 * branch and does not vectorise the loop around it. */
INLINE_F32 float choose_f32(int condition, float a, float b)
{
#if defined __SSE2__ || defined __ARM_NEON || defined __riscv_vector
    const uint32_t mask = 0u - (uint32_t)condition;

    return f32_of_bits((f32_bits(a) & mask) | (f32_bits(b) & ~mask));
#else
    (void)f32_bits;
    (void)f32_of_bits;
    return condition ? a : b;
#endif
}

#endif
