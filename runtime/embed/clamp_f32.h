/* v within low .. high; NaN stays NaN. Both comparisons are with v: so compilers make two
 * instructions on vectors of it, where a chain of choices costs gcc ten. */
static float clamp_f32(float v, float low, float high)
{
    const float up = v > high ? high : v;

    return v < low ? low : up;
}
