/* 8 sums of products: sum[j] = a[0] * b[0][j] + ... + a[len - 1] * b[len - 1][j], added in that
 * order. The rows of b are 8 long; elements of a are a_step apart. */
static void tile_1x8_f32(const float *a, int a_step, const float *b, int len, float sum[8])
{
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

    for (int k = 0; k < len; k++) {
        const float v = *a;

        s0 += v * b[0];
        s1 += v * b[1];
        s2 += v * b[2];
        s3 += v * b[3];
        s4 += v * b[4];
        s5 += v * b[5];
        s6 += v * b[6];
        s7 += v * b[7];
        a += a_step;
        b += 8;
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
    sum[4] = s4;
    sum[5] = s5;
    sum[6] = s6;
    sum[7] = s7;
}
