#include "runtime/embed/tile_1x4_f32.h"

/* y[n_y] = matrix * x[n_x], where the matrix is stored as [(n_y + 3) / 4, n_x, 4 rows]. */
static void matvec_f32(const float *x, int n_x, const float *matrix, int n_y, float *y)
{
    for (int first = 0; first < n_y; first += 4) {
        float part[4][4] = { { 0 } }; /* [input % 4, output] */

        tile_1x4_f32(x, &matrix[first * n_x], n_x, part);
        for (int i = 0; i < 4 && first + i < n_y; i++)
            y[first + i] = (part[0][i] + part[1][i]) + (part[2][i] + part[3][i]);
    }
}
