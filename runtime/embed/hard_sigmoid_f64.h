/* slope * v + offset, clamped to 0 .. 1 */
static double hard_sigmoid_f64(double v, double slope, double offset)
{
    const double line = slope * v + offset;

    return line < 0.0 ? 0.0 : line > 1.0 ? 1.0 : line;
}
