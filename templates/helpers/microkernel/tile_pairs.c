#include "microkernel.h"

/* ${becomes}Winograd inner product${s} of ${of_x} * w[${of_w}] over k < len${scaled}. x_pairs[j] and w_pairs[i] are the
 * correction sums x0 * x1 - x2 * x3 + ... of pixel j and of channel i, up to PAIRED(len).${beyond}${prefetches} */
LINKAGE WIDE void FN(X_PARAMETERS, int len, const float *w, int width, const float *x_pairs, const float *w_pairs,
                     FETCH_PARAMETERS RESULTS)
{
    LONE
    const int paired = PAIRED(len);
    const float *other = &w[paired * width]; /* weights of plain products */
    int k = 0, at = paired;                  /* the next pair, the next plain input */
    const float *xs[MR];
    VECTOR sums[MR][NR];

    for (int j = 0; j < MR; j++) { /* BEGIN */
        xs[j] = PIXEL(j);
        for (int v = 0; v < NR; v++)
            sums[j][v] = -*(const VECTOR *)&w_pairs[v * LANES] - x_pairs[j];
    }

    PAIRS_DO(k < paired) {
        FETCH
        {
            VECTOR bs[NR], cs[NR], ds[NR];

            for (int v = 0; v < NR; v++) { /* WEIGHT */
                bs[v] = *(const VECTOR *)&w[v * LANES];
                cs[v] = *(const VECTOR *)&w[width + v * LANES];
                ds[v] = *(const VECTOR *)&other[v * LANES];
            }
            for (int j = 0; j < MR; j++) { /* ADD */
                INPUT(u0, xs[j][k])
                INPUT(u1, xs[j][k + 1])
                INPUT(u2, xs[j][at])

                for (int v = 0; v < NR; v++) {
                    sums[j][v] = add_pair(sums[j][v], LOADED(u0, xs[j][k]), LOADED(u1, xs[j][k + 1]), bs[v], cs[v]);
                    sums[j][v] = add_product(sums[j][v], LOADED(u2, xs[j][at]), ds[v]);
                }
            }
        }
        k += 2, at++, w += 2 * width, other += width;
        if (k < paired) {
            VECTOR bs[NR], cs[NR], ds[NR];

            for (int v = 0; v < NR; v++) { /* WEIGHT */
                bs[v] = *(const VECTOR *)&w[v * LANES];
                cs[v] = *(const VECTOR *)&w[width + v * LANES];
                ds[v] = *(const VECTOR *)&other[v * LANES];
            }
            for (int j = 0; j < MR; j++) { /* SUBTRACT */
                INPUT(u0, xs[j][k])
                INPUT(u1, xs[j][k + 1])
                INPUT(u2, xs[j][at])

                for (int v = 0; v < NR; v++) {
                    sums[j][v] =
                        subtract_pair(sums[j][v], LOADED(u0, xs[j][k]), LOADED(u1, xs[j][k + 1]), bs[v], cs[v]);
                    sums[j][v] = add_product(sums[j][v], LOADED(u2, xs[j][at]), ds[v]);
                }
            }
            k += 2, at++, w += 2 * width, other += width;
        }
    } PAIRS_WHILE(k < paired)
    for (; at < len; at++, other += width) {
        VECTOR ds[NR];

        for (int v = 0; v < NR; v++) /* WEIGHT */
            ds[v] = *(const VECTOR *)&other[v * LANES];
        for (int j = 0; j < MR; j++) { /* ADD */
            INPUT(u2, xs[j][at])

            for (int v = 0; v < NR; v++)
                sums[j][v] = add_product(sums[j][v], LOADED(u2, xs[j][at]), ds[v]);
        }
    }
    SHARED
    for (int v = 0; v < NR; v++) { /* CHANNEL */
        CHANNEL(v)
    }
    for (int j = 0; j < MR; j++) /* END */
        for (int v = 0; v < NR; v++) {
            END(j, v)
        }
}
