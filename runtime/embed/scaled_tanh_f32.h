#include <math.h>

/* alpha * tanh(beta * v) */
static float scaled_tanh_f32(float v, float alpha, float beta)
{
    return alpha * tanhf(beta * v);
}
