#include <math.h>

/* v / (1 + |v|) */
static float softsign_f32(float v)
{
    return v / (1.0f + fabsf(v));
}
