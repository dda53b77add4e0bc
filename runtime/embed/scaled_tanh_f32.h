#ifndef EMBED_SCALED_TANH_F32_H
#define EMBED_SCALED_TANH_F32_H

#include "runtime/embed/tanh_f32.h"

/* alpha * tanh(beta * v) */
static inline float scaled_tanh_f32(float v, float alpha, float beta)
{
    return alpha * tanh_f32(beta * v);
}

#endif
