#include "driver/commands/tensor_error.h"

#include <math.h>

/* Largest |a - b| over the elements; NaN agrees with NaN, an infinity with itself. */
static double largest_error(const struct tensor *a, const struct tensor *b)
{
    const int64_t n = type_elements(&a->type);
    double worst = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = tensor_at(a, i), y = tensor_at(b, i);
        const double error = (isnan(x) && isnan(y)) || x == y ? 0 : fabs(x - y);

        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

double largest_magnitude(const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    double largest = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = fabs(tensor_at(tensor, i));

        if (isfinite(x) && x > largest)
            largest = x;
    }
    return largest;
}

double relative_error(const struct tensor *wanted, double largest, const struct tensor *found)
{
    const double error = largest_error(wanted, found);

    return largest > 0 ? error / largest : error;
}
