/* Multiplies values first .. first + n - 1 of a row with blocks of `len` by their block scales. */
static void scale_row_f32(const float *scale, int len, int first, int n, float *number)
{
    for (int i = 0; i < n; i++)
        number[i] *= scale[(first + i) / len];
}
