/* 4 sums of products: sum[j] = a[0] * b[0][j] + ... + a[len - 1] * b[len - 1][j]. b is [len, 4].
 * A sum is kept in four parts, for k % 4 = 0, 1, 2, 3, so that sixteen products do not wait for
 * each other; the last len % 4 products go to the first part. */
static void tile_1x4_f64(const double *a, const double *b, int len, double sum[4])
{
    double s00 = 0, s01 = 0, s02 = 0, s03 = 0;
    double s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    double s20 = 0, s21 = 0, s22 = 0, s23 = 0;
    double s30 = 0, s31 = 0, s32 = 0, s33 = 0;

    for (int k = 0; k + 3 < len; k += 4) {
        const double a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];

        s00 += a0 * b[0];
        s01 += a0 * b[1];
        s02 += a0 * b[2];
        s03 += a0 * b[3];
        s10 += a1 * b[4];
        s11 += a1 * b[5];
        s12 += a1 * b[6];
        s13 += a1 * b[7];
        s20 += a2 * b[8];
        s21 += a2 * b[9];
        s22 += a2 * b[10];
        s23 += a2 * b[11];
        s30 += a3 * b[12];
        s31 += a3 * b[13];
        s32 += a3 * b[14];
        s33 += a3 * b[15];
        b += 16;
    }
    for (int k = len - len % 4; k < len; k++) {
        s00 += a[k] * b[0];
        s01 += a[k] * b[1];
        s02 += a[k] * b[2];
        s03 += a[k] * b[3];
        b += 4;
    }
    sum[0] = (s00 + s10) + (s20 + s30);
    sum[1] = (s01 + s11) + (s21 + s31);
    sum[2] = (s02 + s12) + (s22 + s32);
    sum[3] = (s03 + s13) + (s23 + s33);
}
