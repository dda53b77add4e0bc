#ifndef EMBED_ASIN_SERIES_F32_H
#define EMBED_ASIN_SERIES_F32_H

#include "runtime/embed/inline_f32.h"

/* The arc sine of x in 0 .. 1/2, given x and its square. */
INLINE_F32 float asin_series_f32(float x, float square)
{
    const float p = (((0x1.595c60p-5f * square + 0x1.8c3e50p-6f) * square + 0x1.747bb8p-5f) * square
                     + 0x1.330204p-4f) * square + 0x1.5555c8p-3f;

    return x + x * square * p;
}

#endif
