/* v clamped to low .. high; NaN stays NaN. Both comparisons read v, so that compilers emit two vector
 * instructions; a chain of conditionals costs gcc ten. */
static double clamp_f64(double v, double low, double high)
{
    const double up = v > high ? high : v;

    return v < low ? low : up;
}
