#if defined __AVX__ && (defined __clang__ || (defined __GNUC__ && __GNUC__ >= 12))
#define TRANSPOSES_EIGHTS

typedef float four_f32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float eight_f32 __attribute__((vector_size(32), aligned(4), may_alias));

/* Half rows i and i + 4 of x, in one vector. */
static inline __attribute__((always_inline)) eight_f32 half_rows(const float *x, int x_step, int i)
{
    return __builtin_shufflevector(*(const four_f32 *)&x[i * x_step], *(const four_f32 *)&x[(i + 4) * x_step], 0, 1, 2,
                                   3, 4, 5, 6, 7);
}

/* y[j * y_step + i] = x[i * x_step + j] for i, j < 8. Half rows of i and i + 4 form a vector; pairs of these are
 * interleaved, and pairs of the results are four columns. */
static inline void transpose_8x8_f32(const float *restrict x, int x_step, float *restrict y, int y_step)
{
    for (int half = 0; half < 2; half++) {
        const eight_f32 a = half_rows(x, x_step, 0), b = half_rows(x, x_step, 1);
        const eight_f32 c = half_rows(x, x_step, 2), d = half_rows(x, x_step, 3);
        const eight_f32 ab_01 = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13); /* columns 0 and 1 */
        const eight_f32 ab_23 = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
        const eight_f32 cd_01 = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
        const eight_f32 cd_23 = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);

        *(eight_f32 *)y = __builtin_shufflevector(ab_01, cd_01, 0, 1, 8, 9, 4, 5, 12, 13);
        *(eight_f32 *)&y[y_step] = __builtin_shufflevector(ab_01, cd_01, 2, 3, 10, 11, 6, 7, 14, 15);
        *(eight_f32 *)&y[2 * y_step] = __builtin_shufflevector(ab_23, cd_23, 0, 1, 8, 9, 4, 5, 12, 13);
        *(eight_f32 *)&y[3 * y_step] = __builtin_shufflevector(ab_23, cd_23, 2, 3, 10, 11, 6, 7, 14, 15);
        x += 4;
        y += 4 * y_step;
    }
}
#endif
