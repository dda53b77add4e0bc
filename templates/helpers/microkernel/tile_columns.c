#include "microkernel.h"

/* ${becomes} = the sums of x[v][offset[k] + j] * w[k * width + c] over k < len, in this order${then}, for ${vectors}
 * vectors v of LANES pixels j and ${channels} channels c.${splat}
 */
static inline WIDE void FN(const float *const *x, const int *offset, int len, const float *w, int width,
                           COLUMNS)
{
    LONE
    const float *xs[NR];
    VECTOR sums[MR][NR];

    for (int c = 0; c < MR; c++) /* BEGIN */
        for (int v = 0; v < NR; v++)
            sums[c][v] = (VECTOR){ 0 };
    for (int v = 0; v < NR; v++) /* POINT */
        xs[v] = x[v];

    for (int k = 0; k < len; k++, w += WEIGHTS) {
        const int at = offset[k];
        VECTOR xks[NR];

        for (int v = 0; v < NR; v++) /* LOAD */
            xks[v] = *(const VECTOR *)&xs[v][at];
        for (int c = 0; c < MR; c++) { /* ADD */
            const WEIGHT wk = WEIGHT_OF(c);

            for (int v = 0; v < NR; v++) {
                ADD(sums[c][v], wk, xks[v])
            }
        }
    }
    SHARED
    for (int c = 0; c < MR; c++) /* END */
        for (int v = 0; v < NR; v++) {
            COMPUTE(c, v)
        }
    for (int c = 0; c < MR; c++) /* STORE */
        for (int v = 0; v < NR; v++) {
            STORE(c, v)
        }
    for (int v = 0; v < NR; v++) { /* STORE_ALL */
        STORE_ALL(v)
    }
}
