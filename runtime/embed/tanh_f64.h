#include <math.h>

static double tanh_f64(double v)
{
    return tanh(v);
}
