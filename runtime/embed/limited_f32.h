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
    const uint32_t magnitude = bits & 0x7fffffffu, limit = f32_bits(most);

    return f32_of_bits(((int32_t)magnitude < (int32_t)limit ? magnitude : limit) | sign);
}

#endif
