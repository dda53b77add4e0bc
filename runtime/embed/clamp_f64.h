/* v within low .. high; NaN stays NaN. Both comparisons are with v: so compilers make two
 * instructions on vectors of it, where a chain of choices costs gcc ten. */
static double clamp_f64(double v, double low, double high)
{
    const double up = v > high ? high : v;

    return v < low ? low : up;
}
