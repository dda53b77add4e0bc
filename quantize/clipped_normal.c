#include "quantize/clipped_normal.h"

#include <math.h>

struct clipped_normal normal_of(double mean, double deviation)
{
    return (struct clipped_normal){ mean, deviation, -INFINITY, INFINITY };
}

/* What a bound contributes to the first two moments: the probability below it, its density, and
 * density times bound, which is 0 at infinity. */
struct bound {
    double below, density, weighted;
    double number; /* the bound, 0 at infinity: nothing lies there */
};

static struct bound bound_of(const struct clipped_normal *x, double at)
{
    const double z = (at - x->mean) / x->deviation;
    struct bound b = { .below = 0.5 * erfc(-z / sqrt(2)) };

    if (isinf(at))
        return b;
    b.density = exp(-0.5 * z * z) / sqrt(2 * 3.14159265358979323846);
    b.weighted = b.density * at;
    b.number = at;
    return b;
}

static void moments(const struct clipped_normal *x, double *first, double *second)
{
    const double m = x->mean, s = x->deviation;
    struct bound a, b;
    double inside;

    if (s <= 0) {
        *first = fmin(fmax(m, x->low), x->high);
        *second = *first * *first;
        return;
    }
    a = bound_of(x, x->low);
    b = bound_of(x, x->high);
    inside = b.below - a.below;
    *first =
        m * inside + s * (a.density - b.density) + a.number * a.below + b.number * (1 - b.below);
    *second = (m * m + s * s) * inside +
              s * (m * (a.density - b.density) + a.weighted - b.weighted) +
              a.number * a.number * a.below + b.number * b.number * (1 - b.below);
}

double clipped_mean(const struct clipped_normal *x)
{
    double first, second;

    moments(x, &first, &second);
    return first;
}

double clipped_variance(const struct clipped_normal *x)
{
    double first, second;

    moments(x, &first, &second);
    return fmax(second - first * first, 0);
}

struct clipped_normal clipped_flatten(const struct clipped_normal *x)
{
    return normal_of(clipped_mean(x), sqrt(clipped_variance(x)));
}

struct clipped_normal clipped_clip(const struct clipped_normal *x, double low, double high)
{
    struct clipped_normal y = *x;

    y.low = fmin(fmax(x->low, low), high);
    y.high = fmin(fmax(x->high, low), high);
    return y;
}

struct clipped_normal clipped_linear(const struct clipped_normal *x, double factor, double shift)
{
    struct clipped_normal y = { factor * x->mean + shift, fabs(factor) * x->deviation,
                                factor * x->low + shift, factor * x->high + shift };

    if (factor == 0)
        y.low = y.high = shift;
    if (factor < 0) {
        y.low = factor * x->high + shift;
        y.high = factor * x->low + shift;
    }
    return y;
}

struct clipped_normal clipped_leaky(const struct clipped_normal *x, double slope)
{
    const struct clipped_normal positive = clipped_clip(x, 0, INFINITY);
    const struct clipped_normal negative = clipped_clip(x, -INFINITY, 0);
    double p1, p2, n1, n2, mean;

    moments(&positive, &p1, &p2);
    moments(&negative, &n1, &n2);
    mean = p1 + slope * n1;
    return normal_of(mean, sqrt(fmax(p2 + slope * slope * n2 - mean * mean, 0)));
}
