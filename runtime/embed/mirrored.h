#include <math.h>

/* A coordinate, reflected at first and last until it lies between them. */
static double mirrored(double place, double first, double last)
{
    const double range = last - first;
    double beyond;

    if (range <= 0)
        return first;
    beyond = fmod(fabs(place - first), 2 * range);
    return first + (beyond > range ? 2 * range - beyond : beyond);
}
