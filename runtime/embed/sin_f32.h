#ifndef EMBED_SIN_F32_H
#define EMBED_SIN_F32_H

#include "runtime/embed/f32_bits.h"
#include "runtime/embed/f32_of_bits.h"
#include "runtime/embed/inline_f32.h"
#include "runtime/embed/sine_f32.h"

/* The sine of v, within 1.7 ulp. */
INLINE_F32 float sin_f32(float v)
{
    return f32_of_bits(f32_bits(sine_f32(v, 0)) ^ (f32_bits(v) & 0x80000000u));
}

#endif
