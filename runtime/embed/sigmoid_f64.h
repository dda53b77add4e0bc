#include <math.h>

/* 1 / (1 + e^-v) */
static double sigmoid_f64(double v)
{
    return 1.0 / (1.0 + exp(-v));
}
