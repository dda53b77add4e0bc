#ifndef EMBED_COS_F32_H
#define EMBED_COS_F32_H

#include "runtime/embed/inline_f32.h"
#include "runtime/embed/sine_f32.h"

/* The cosine of v, within 1.7 ulp. */
INLINE_F32 float cos_f32(float v)
{
    return sine_f32(v, 1);
}

#endif
