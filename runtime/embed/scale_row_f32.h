/* Multiplies numbers first .. first + n - 1 of a row by the scale that their block of `len`
 * shares. */
static void scale_row_f32(const float *scale, int len, int first, int n, float *number)
{
    for (int i = 0; i < n; i++)
        number[i] *= scale[(first + i) / len];
}
