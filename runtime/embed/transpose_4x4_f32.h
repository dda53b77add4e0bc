/* y[j * y_step + i] = x[i * x_step + j] for i, j < 4. Unrolled, four rows become four vectors. */
static inline void transpose_4x4_f32(const float *restrict x, int x_step, float *restrict y, int y_step)
{
    const float *const a = x, *const b = &x[x_step], *const c = &x[2 * x_step], *const d = &x[3 * x_step];
    const float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const float b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    const float c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const float d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
    float *const row1 = &y[y_step], *const row2 = &row1[y_step], *const row3 = &row2[y_step];

    y[0] = a0; y[1] = b0; y[2] = c0; y[3] = d0;
    row1[0] = a1; row1[1] = b1; row1[2] = c1; row1[3] = d1;
    row2[0] = a2; row2[1] = b2; row2[2] = c2; row2[3] = d2;
    row3[0] = a3; row3[1] = b3; row3[2] = c3; row3[3] = d3;
}
