#ifndef EMBED_SQRT_F32_H
#define EMBED_SQRT_F32_H

#include <math.h>

#include "runtime/embed/inline_f32.h"

#if defined __GNUC__ && !defined __PICOLIBC__ /* which has it in its header */
/* Nobody reads errno: an instruction where the processor has one, and vector code, not a branch for numbers below 0. */
float sqrtf(float v) __attribute__((const));
#endif

/* The square root of v, rounded to nearest. */
INLINE_F32 float sqrt_f32(float v)
{
    return sqrtf(v);
}

#endif
