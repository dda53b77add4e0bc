/* slope * v + offset */
static double affine_f64(double v, double slope, double offset)
{
    return slope * v + offset;
}
