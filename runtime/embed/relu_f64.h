/* max(v, 0); NaN stays NaN. */
static double relu_f64(double v)
{
    return v < 0.0 ? 0.0 : v;
}
