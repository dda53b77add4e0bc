#ifndef EMBED_SILU_F32_H
#define EMBED_SILU_F32_H

#include "runtime/embed/sigmoid_f32.h"

/* v / (1 + e^-v) */
static inline float silu_f32(float v)
{
    return v * sigmoid_f32(v);
}

#endif
