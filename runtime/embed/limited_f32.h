#ifndef EMBED_LIMITED_F32_H
#define EMBED_LIMITED_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* v clamped to -most .. most; NaN becomes one of the two. */
INLINE_F32 float limited_f32(float v, float most)
{
    const uint32_t bits = f32_bits(v), sign = bits & 0x80000000u;
    const int32_t magnitude = (int32_t)(bits & 0x7fffffffu), limit = (int32_t)f32_bits(most);

    return f32_of_bits((uint32_t)(magnitude < limit ? magnitude : limit) | sign);
}

#endif
