#ifndef EMBED_FMOD_F32_H
#define EMBED_FMOD_F32_H

#include <math.h>
#include <stdint.h>

/* The remainder of a / b, with the sign of a; exact. With double arithmetic, quotients below 2^29 need no loop
 * over bits: 53 bits determine the integer below the quotient and hold its product with b. */
static inline float fmod_f32(float a, float b)
{
#if defined __SSE2__ || defined __aarch64__ || (defined __riscv_flen && __riscv_flen >= 64)
    const double quotient = (double)a / (double)b;

    if (quotient > -0x1p29 && quotient < 0x1p29) {
        const double rest = (double)a - (double)(int32_t)quotient * (double)b;

        if (rest <= rest) /* only if b is finite */
            return copysignf((float)rest, a);
    }
#endif
    return fmodf(a, b);
}

#endif
