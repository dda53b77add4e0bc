/* slope * v + offset, clamped to 0 .. 1 */
static float hard_sigmoid_f32(float v, float slope, float offset)
{
    const float line = slope * v + offset;

    return line < 0.0f ? 0.0f : line > 1.0f ? 1.0f : line;
}
