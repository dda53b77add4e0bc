/* The maximum; NaN if either is. */
static float max_f32(float a, float b)
{
    return a > b || !(a <= a) ? a : b;
}
