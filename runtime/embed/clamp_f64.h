/* v within low .. high; NaN stays NaN. */
static double clamp_f64(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}
