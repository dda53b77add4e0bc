/* v within least .. greatest; NaN becomes 0. */
static float saturate_f32(float v, float least, float greatest)
{
    if (v != v)
        return 0.0f;
    return v < least ? least : v > greatest ? greatest : v;
}
