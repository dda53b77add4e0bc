#include <math.h>

/* 1 / (1 + e^-v) */
static float sigmoid_f32(float v)
{
    return 1.0f / (1.0f + expf(-v));
}
