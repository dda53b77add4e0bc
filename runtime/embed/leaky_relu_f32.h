/* v, or alpha * v if v is negative. */
static float leaky_relu_f32(float v, float alpha)
{
    return v < 0.0f ? alpha * v : v;
}
