#ifndef EMBED_GELU_TANH_F32_H
#define EMBED_GELU_TANH_F32_H

#include "runtime/embed/inline_f32.h"
#include "runtime/embed/sigmoid_f32.h"

/* v / 2 * (1 + tanh(u / 2)) = v / (1 + e^-u), u = sqrt(8 / pi) * (v + 0.044715 * v^3); off by 3.2 ulp at most
 * from -1 on, below by 2^-24. */
INLINE_F32 float gelu_tanh_f32(float v)
{
    const float u = v * (0x1.988454p+0f + 0x1.2444f2p-4f * v * v);

    return v * sigmoid_f32(u);
}

#endif
