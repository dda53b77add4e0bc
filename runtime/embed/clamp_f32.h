/* v clamped to low .. high; NaN stays NaN. Both comparisons read v, so that compilers emit two vector
 * instructions; a chain of conditionals costs gcc ten. */
static float clamp_f32(float v, float low, float high)
{
    const float up = v > high ? high : v;

    return v < low ? low : up;
}
