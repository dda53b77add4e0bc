/* The minimum; NaN if either is. */
static float min_f32(float a, float b)
{
    return a < b || !(a <= a) ? a : b;
}
