#ifndef EMBED_POWER_F32_H
#define EMBED_POWER_F32_H

#include <math.h>

#include "runtime/embed/inline_f32.h"

/* a^b; cubes, a common power in networks, are products. */
INLINE_F32 float power_f32(float a, float b)
{
    return b == 3.0f ? a * a * a : powf(a, b);
}

#endif
