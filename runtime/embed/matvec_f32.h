#include "runtime/embed/tile_1x8_f32.h"

/* y[n_y] = matrix * x[n_x], where the matrix is stored as [(n_y + 7) / 8, n_x, 8 rows]. */
static void matvec_f32(const float *x, int n_x, const float *matrix, int n_y, float *y)
{
    for (int first = 0; first < n_y; first += 8) {
        float sum[8];

        tile_1x8_f32(x, 1, &matrix[first * n_x], n_x, sum);
        for (int i = 0; i < 8 && first + i < n_y; i++)
            y[first + i] = sum[i];
    }
}
