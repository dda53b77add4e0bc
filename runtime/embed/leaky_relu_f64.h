/* v, or alpha * v if v is negative. */
static double leaky_relu_f64(double v, double alpha)
{
    return v < 0.0 ? alpha * v : v;
}
