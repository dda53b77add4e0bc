/* The minimum; NaN if either is. */
static double min_f64(double a, double b)
{
    return a < b || !(a <= a) ? a : b;
}
