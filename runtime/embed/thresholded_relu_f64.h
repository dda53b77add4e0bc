/* v if v >= alpha, else 0. */
static double thresholded_relu_f64(double v, double alpha)
{
    return v >= alpha ? v : 0.0;
}
