#include <math.h>

/* The remainder, with the sign of the divisor. */
static double floor_mod_f64(double a, double b)
{
    const double rest = fmod(a, b);

    if (rest == 0.0)
        return copysign(0.0, b);
    return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
