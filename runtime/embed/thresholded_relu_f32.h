/* v if v >= alpha, else 0. */
static float thresholded_relu_f32(float v, float alpha)
{
    return v >= alpha ? v : 0.0f;
}
