/* sum[i][j] += a[0][i] * b[0][j], ..., a[len - 1][i] * b[len - 1][j], in order; a and b are [len, 4]. The 4 x 4
 * sums are named variables so that every compiler keeps them in registers; each loaded value is used four times. */
static void tile_4x4_f64(const double *a, const double *b, int len, double sum[4][4])
{
    const double *x = a, *w = b;
    double s00 = sum[0][0], s01 = sum[0][1], s02 = sum[0][2], s03 = sum[0][3];
    double s10 = sum[1][0], s11 = sum[1][1], s12 = sum[1][2], s13 = sum[1][3];
    double s20 = sum[2][0], s21 = sum[2][1], s22 = sum[2][2], s23 = sum[2][3];
    double s30 = sum[3][0], s31 = sum[3][1], s32 = sum[3][2], s33 = sum[3][3];

    for (int k = 0; k < len; k++) {
        const double a0 = x[0], a1 = x[1], a2 = x[2], a3 = x[3];
        const double b0 = w[0], b1 = w[1], b2 = w[2], b3 = w[3];

        s00 += a0 * b0;
        s01 += a0 * b1;
        s02 += a0 * b2;
        s03 += a0 * b3;
        s10 += a1 * b0;
        s11 += a1 * b1;
        s12 += a1 * b2;
        s13 += a1 * b3;
        s20 += a2 * b0;
        s21 += a2 * b1;
        s22 += a2 * b2;
        s23 += a2 * b3;
        s30 += a3 * b0;
        s31 += a3 * b1;
        s32 += a3 * b2;
        s33 += a3 * b3;
        x = &x[4];
        w = &w[4];
    }
    sum[0][0] = s00; sum[0][1] = s01; sum[0][2] = s02; sum[0][3] = s03;
    sum[1][0] = s10; sum[1][1] = s11; sum[1][2] = s12; sum[1][3] = s13;
    sum[2][0] = s20; sum[2][1] = s21; sum[2][2] = s22; sum[2][3] = s23;
    sum[3][0] = s30; sum[3][1] = s31; sum[3][2] = s32; sum[3][3] = s33;
}
