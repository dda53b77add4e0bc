#include "microkernel.h"

/* sum[j * ${TILE} + i] ${becomes} x[j * step + k] * weights[k * width + i] ${over_k} up to ${TILE} - 1 weights beyond the last.${prefetches} */
LINKAGE WIDE void FN(const float *x, int step, int len, const float *weights, int width, FETCH_PARAMETERS float *sum)
{
    LONE
    const float *w = weights;
    const float *xs[MR];
    VECTOR sums[MR][NR];

    for (int j = 0; j < MR; j++) /* BEGIN */
        for (int v = 0; v < NR; v++)
            sums[j][v] = BEGIN(j, v);

    for (int j = 0; j < MR; j++) /* POINT */
        xs[j] = &x[j * step];
    for (int k = 0; k < len; k++, w = &w[width] AND_AHEAD) {
        VECTOR ws[NR];

        FETCH
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
