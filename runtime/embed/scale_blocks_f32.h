/* Multiplies numbers by the scale that their block shares: number (k, j) of [n, 4] by
 * scale[k * k_step + j * j_step]. */
static void scale_blocks_f32(const float *scale, int k_step, int j_step, int n, float *number)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 4; j++)
            number[k * 4 + j] *= scale[k * k_step + j * j_step];
}
