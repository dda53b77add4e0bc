#include <math.h>

/* log(1 + e^v) without overflow. */
static double softplus_f64(double v)
{
    return v > 0.0 ? v + log1p(exp(-v)) : log1p(exp(v));
}
