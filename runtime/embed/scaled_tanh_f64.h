#include <math.h>

/* alpha * tanh(beta * v) */
static double scaled_tanh_f64(double v, double alpha, double beta)
{
    return alpha * tanh(beta * v);
}
