#include "microkernel.h"

/* sum[j * ${TILE} + i] += x[j][k] * weights[k * width + i] for k < len, in this order. Vectors may read up to ${TILE} -
 * 1 weights beyond the last. Prefetches `fetch` floats from `ahead` on for each k. */
LINKAGE WIDE void FN(const float *const *x, int len, const float *weights, int width, const float *ahead, int fetch,
                     float *sum)
{
    const float *w = weights;
    const float *xs[MR];
    VECTOR sums[MR][NR];

    for (int j = 0; j < MR; j++) /* BEGIN */
        for (int v = 0; v < NR; v++)
            sums[j][v] = *(const VECTOR *)&sum[j * TILE + v * LANES];

    for (int j = 0; j < MR; j++) /* POINT */
        xs[j] = x[j];
    for (int k = 0; k < len; k++, w = &w[width], ahead = &ahead[fetch]) {
        VECTOR ws[NR];

        __builtin_prefetch(ahead, 0, 2);
        for (int v = 0; v < NR; v++) { /* NEAR */
            FETCH_WEIGHT(v)
        }
        for (int v = 0; v < NR; v++) /* WEIGHT */
            ws[v] = *(const VECTOR *)&w[v * LANES];
        for (int j = 0; j < MR; j++) { /* ADD */
            const float x_k = xs[j][k];

            for (int v = 0; v < NR; v++) {
                ADD(sums[j][v], x_k, ws[v])
            }
        }
    }
    for (int j = 0; j < MR; j++) /* END */
        for (int v = 0; v < NR; v++) {
            END(j, v)
        }
}
