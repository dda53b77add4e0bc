#include "runtime/embed/tile_1x4_f64.h"

/* y[n_y] = matrix * x[n_x]; the matrix is packed as [(n_y + 3) / 4, n_x, 4 rows]. */
static void matvec_f64(const double *x, int n_x, const double *matrix, int n_y, double *y)
{
    for (int first = 0; first < n_y; first += 4) {
        double sum[4] = { 0 };

        tile_1x4_f64(x, &matrix[first * n_x], n_x, sum);
        for (int i = 0; i < 4 && first + i < n_y; i++)
            y[first + i] = sum[i];
    }
}
