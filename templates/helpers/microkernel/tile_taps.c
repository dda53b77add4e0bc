#include "microkernel.h"

/* ${becomes} the sum of inputs[t * ${PIXELS} + j][k] * weights[(t * len + k) * width + i] over t < n_taps and k < len, in
 * this order${then}. Vectors may read up to ${TILE} - 1 weights beyond the last.${prefetches} */
LINKAGE WIDE void FN(const float *const *inputs, int n_taps, int len, const float *weights, int width, FETCH_PARAMETERS
                     RESULTS)
{
    LONE
    const float *w = weights;
    const float *const *x = inputs;
    VECTOR sums[MR][NR];

    for (int j = 0; j < MR; j++) /* FETCH: operands of the epilogue */
        if (j < N_PIXELS)
            for (int v = 0; v < NR; v++) {
                FETCH_RESULT(j, v)
            }

    for (int j = 0; j < MR; j++) /* BEGIN */
        for (int v = 0; v < NR; v++)
            sums[j][v] = BEGIN(j, v);

    for (int t = 0; t < n_taps; t++, x = &x[MR]) {
        const float *xs[MR];

        for (int j = 0; j < MR; j++) /* POINT */
            xs[j] = x[j];

        for (int k = 0; k < len; k++, w = &w[width] AND_AHEAD) {
            VECTOR ws[NR];

            FETCH
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
