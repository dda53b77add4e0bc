/* sum[j] += a[k] * b[k][j] for k = 0 .. len - 1 in order; b is [len, 4]. */
static void tile_1x4_f32(const float *a, const float *b, int len, float sum[4])
{
    float s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];

    for (int k = 0; k < len; k++) {
        s0 += a[k] * b[0];
        s1 += a[k] * b[1];
        s2 += a[k] * b[2];
        s3 += a[k] * b[3];
        b += 4;
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}
