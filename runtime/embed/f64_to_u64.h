/* v truncated towards zero, saturated; NaN becomes 0. */
static uint64_t f64_to_u64(double v)
{
    if (!(v > 0.0))
        return 0;
    return v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}
