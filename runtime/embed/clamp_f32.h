/* v within low .. high; NaN stays NaN. */
static float clamp_f32(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v;
}
