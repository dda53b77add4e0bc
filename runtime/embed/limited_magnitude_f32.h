#ifndef EMBED_LIMITED_MAGNITUDE_F32_H
#define EMBED_LIMITED_MAGNITUDE_F32_H

#include <stdint.h>

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"

/* min(|v|, most); NaN becomes most. */
INLINE_F32 float limited_magnitude_f32(float v, float most)
{
    const uint32_t magnitude = f32_bits(v) & 0x7fffffffu, limit = f32_bits(most);

    return f32_of_bits((int32_t)magnitude < (int32_t)limit ? magnitude : limit);
}

#endif
