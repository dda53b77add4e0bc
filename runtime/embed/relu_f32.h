/* max(v, 0); NaN stays NaN. */
static float relu_f32(float v)
{
    return v < 0.0f ? 0.0f : v;
}
