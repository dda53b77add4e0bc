#ifndef EMBED_ELU_F32_H
#define EMBED_ELU_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/expm1_f32.h"
#include "runtime/embed/inline_f32.h"

/* v, or alpha * (e^v - 1) if v is negative. */
INLINE_F32 float elu_f32(float v, float alpha)
{
    return choose_f32(v < 0.0f, alpha * expm1_f32(v), v);
}

#endif
