#include <math.h>

#include "runtime/embed/fmod_f32.h"

/* The remainder, with the sign of the divisor. */
static float floor_mod_f32(float a, float b)
{
    const float rest = fmod_f32(a, b);

    if (rest == 0.0f)
        return copysignf(0.0f, b);
    return (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
