#include <math.h>

/* v, or alpha * (e^v - 1) when it is negative. */
static float elu_f32(float v, float alpha)
{
    return v < 0.0f ? alpha * expm1f(v) : v;
}
