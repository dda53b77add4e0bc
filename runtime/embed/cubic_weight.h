#include <math.h>

/* The weight of an element at this distance in cubic convolution, a = -0.75. */
static double cubic_weight(double distance)
{
    const double a = -0.75, x = fabs(distance);

    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}
