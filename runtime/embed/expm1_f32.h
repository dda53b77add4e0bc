#ifndef EMBED_EXPM1_F32_H
#define EMBED_EXPM1_F32_H

#include "runtime/embed/choose_f32.h"
#include "runtime/embed/expm1_within_f32.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/limited_f32.h"

/* e^v - 1 for v <= 20, within 1.5 ulp; 0 of -0. */
INLINE_F32 float expm1_f32(float v)
{
    return choose_f32(v <= v, expm1_within_f32(limited_f32(v, 20.0f)), v);
}

#endif
