/* slope * v + offset */
static float affine_f32(float v, float slope, float offset)
{
    return slope * v + offset;
}
