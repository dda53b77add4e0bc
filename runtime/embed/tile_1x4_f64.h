/* 4 sums of products, each in four parts: to part[k % 4][j] is added a[k] * b[k][j], for k = 0 ..
 * len - 1 in order. b is [len, 4]. Four parts, so that sixteen products do not wait for each other;
 * the last len % 4 products go to the first part. */
static void tile_1x4_f64(const double *a, const double *b, int len, double part[4][4])
{
    double s00 = part[0][0], s01 = part[0][1], s02 = part[0][2], s03 = part[0][3];
    double s10 = part[1][0], s11 = part[1][1], s12 = part[1][2], s13 = part[1][3];
    double s20 = part[2][0], s21 = part[2][1], s22 = part[2][2], s23 = part[2][3];
    double s30 = part[3][0], s31 = part[3][1], s32 = part[3][2], s33 = part[3][3];

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
    part[0][0] = s00; part[0][1] = s01; part[0][2] = s02; part[0][3] = s03;
    part[1][0] = s10; part[1][1] = s11; part[1][2] = s12; part[1][3] = s13;
    part[2][0] = s20; part[2][1] = s21; part[2][2] = s22; part[2][3] = s23;
    part[3][0] = s30; part[3][1] = s31; part[3][2] = s32; part[3][3] = s33;
}
