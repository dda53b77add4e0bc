/* The least of n > 0 numbers, NaN if there is one. 32 side by side: of 16, gcc makes 16 scalars. */
static float row_min_f32(const float *x, int n)
{
    float best[32];

    for (int lane = 0; lane < 32; lane++)
        best[lane] = x[n < 32 ? 0 : n - 32 + lane];
    for (int i = 0; i + 32 < n; i += 32)
        for (int lane = 0; lane < 32; lane++) {
            const float v = x[i + lane], b = best[lane];

            best[lane] = ((v < b) | (v != v)) ? v : b;
        }
    for (int half = 16; half > 0 && n >= 32; half /= 2)
        for (int lane = 0; lane < half; lane++) {
            const float v = best[lane + half], b = best[lane];

            best[lane] = ((v < b) | (v != v)) ? v : b;
        }
    for (int i = 1; i < n && n < 32; i++)
        best[0] = x[i] < best[0] || x[i] != x[i] ? x[i] : best[0];
    return best[0];
}
