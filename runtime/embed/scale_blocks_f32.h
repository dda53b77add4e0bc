/* Multiplies values [n, 4] by block scales: value (k, j) by scale[k * k_step + j * j_step]. */
static void scale_blocks_f32(const float *scale, int k_step, int j_step, int n, float *number)
{
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 4; j++)
            number[k * 4 + j] *= scale[k * k_step + j * j_step];
}
