#include "runtime/embed/tile_1x8_f64.h"

/* y[n_y] = matrix * x[n_x], where the matrix is stored as [(n_y + 7) / 8, n_x, 8 rows]. */
static void matvec_f64(const double *x, int n_x, const double *matrix, int n_y, double *y)
{
    for (int first = 0; first < n_y; first += 8) {
        double sum[8];

        tile_1x8_f64(x, 1, &matrix[first * n_x], n_x, sum);
        for (int i = 0; i < 8 && first + i < n_y; i++)
            y[first + i] = sum[i];
    }
}
