#ifndef EMBED_SQRT_F32_H
#define EMBED_SQRT_F32_H

#include <math.h>

#include "runtime/embed/inline_f32.h"

#if (defined __SSE2__ || defined __ARM_NEON || defined __riscv_vector) && defined __GNUC__ && !defined __PICOLIBC__
/* errno is not read: an instruction where the CPU has one, vectorised, without a branch for negative numbers. */
float sqrtf(float v) __attribute__((const));
#endif

/* The square root of v, rounded to nearest. */
INLINE_F32 float sqrt_f32(float v)
{
    return sqrtf(v);
}

#endif
