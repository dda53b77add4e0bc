/* The number of elements above t; NaN counts as above. */
static int count_above_f32(const float *x, int n, float t)
{
    int above = 0;

    for (int i = 0; i < n; i++)
        above += !(x[i] <= t);
    return above;
}
