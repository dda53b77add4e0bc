/* v truncated towards zero, saturated; NaN becomes 0. */
static int64_t f64_to_i64(double v)
{
    if (!(v <= v))
        return 0;
    if (v >= 0x1p63)
        return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}
