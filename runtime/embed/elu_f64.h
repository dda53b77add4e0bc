#include <math.h>

/* v, or alpha * (e^v - 1) if v is negative. */
static double elu_f64(double v, double alpha)
{
    return v < 0.0 ? alpha * expm1(v) : v;
}
