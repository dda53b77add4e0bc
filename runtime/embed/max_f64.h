/* The maximum; NaN if either is. */
static double max_f64(double a, double b)
{
    return a > b || !(a <= a) ? a : b;
}
