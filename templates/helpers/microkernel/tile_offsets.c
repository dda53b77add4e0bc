#include "microkernel.h"

/* ${becomes} the sum of x[j][offset[k]] * weights[k * width + i] over k < len, in this order${then}. Vectors may read
 * up to ${TILE} - 1 weights beyond the last. */
LINKAGE WIDE void FN(const float *const *x, const int *offset, int len, const float *weights, int width, RESULTS)
{
    LONE
    const float *w = weights;
    const float *xs[MR];
    VECTOR sums[MR][NR];

    for (int j = 0; j < MR; j++) /* FETCH: operands of the epilogue */
        if (j < N_PIXELS)
            for (int v = 0; v < NR; v++) {
                FETCH_RESULT(j, v)
            }

    for (int j = 0; j < MR; j++) /* BEGIN */
        for (int v = 0; v < NR; v++)
            sums[j][v] = BEGIN(j, v);

    for (int j = 0; j < MR; j++) /* POINT */
        xs[j] = x[j];
    for (int k = 0; k < len; k++, w = &w[width]) {
        const int at = offset[k];
        VECTOR ws[NR];

        for (int v = 0; v < NR; v++) /* WEIGHT */
            ws[v] = *(const VECTOR *)&w[v * LANES];
        for (int j = 0; j < MR; j++) { /* ADD */
            const float x_k = xs[j][at];

            for (int v = 0; v < NR; v++) {
                ADD(sums[j][v], x_k, ws[v])
            }
        }
    }
    for (int v = 0; v < NR; v++) { /* CHANNEL */
        CHANNEL(v)
    }
    SHARED
    for (int j = 0; j < MR; j++) /* END */
        if (j < N_PIXELS)
            for (int v = 0; v < NR; v++) {
                END(j, v)
            }
}
