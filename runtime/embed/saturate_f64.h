/* v clamped to least .. greatest; NaN becomes 0. */
static double saturate_f64(double v, double least, double greatest)
{
    if (!(v <= v))
        return 0.0;
    return v < least ? least : v > greatest ? greatest : v;
}
