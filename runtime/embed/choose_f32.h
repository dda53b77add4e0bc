#ifndef EMBED_CHOOSE_F32_H
#define EMBED_CHOOSE_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* condition (0 or 1) ? a : b, both computed where vectors are: a compiler that must mind traps makes a branch of
 * what stands in an arm of ?:, and no vector code of the loop around it. */
INLINE_F32 float choose_f32(int condition, float a, float b)
{
#if defined __SSE2__ || defined __ARM_NEON || defined __riscv_vector
    const uint32_t mask = 0u - (uint32_t)condition;

    return f32_of_bits((f32_bits(a) & mask) | (f32_bits(b) & ~mask));
#else
    (void)f32_bits, (void)f32_of_bits; /* of vectors */
    return condition ? a : b;
#endif
}

#endif
