#include <math.h>

/* log(1 + e^v) without overflow. */
static float softplus_f32(float v)
{
    return v > 0.0f ? v + log1pf(expf(-v)) : log1pf(expf(v));
}
