#include <math.h>

/* A place, thrown back by the edges first and last until it is between them. */
static double mirrored(double place, double first, double last)
{
    const double range = last - first;
    double beyond;

    if (range <= 0)
        return first;
    beyond = fmod(fabs(place - first), 2 * range);
    return first + (beyond > range ? 2 * range - beyond : beyond);
}
