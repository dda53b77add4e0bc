/* winograd_weights.c - G w G^T of every kernel of 3 x 3, where G is the matrix of F(m, 3) at the
 * points 0, 1, -1 (and 2, -2) and infinity. */
#include "codegen_c/kernels/winograd.h"

enum { K = 3, MOST = 6 };

static const double two[][K] = { { 1, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 } };
static const double four[][K] = { { 1.0 / 4, 0, 0 },
                                  { -1.0 / 6, -1.0 / 6, -1.0 / 6 },
                                  { -1.0 / 6, 1.0 / 6, -1.0 / 6 },
                                  { 1.0 / 24, 1.0 / 12, 1.0 / 6 },
                                  { 1.0 / 24, -1.0 / 12, 1.0 / 6 },
                                  { 0, 0, 1 } };

static double dot(const double *g, double a, double b, double c)
{
    return g[0] * a + g[1] * b + g[2] * c;
}

void winograd_transform(int m, const float *kernel, double *to)
{
    const double(*g)[K] = m == 4 ? four : two;
    const int n = m + 2;
    double half[MOST][K]; /* G w */

    for (int i = 0; i < n; i++)
        for (int j = 0; j < K; j++)
            half[i][j] = dot(g[i], kernel[j], kernel[K + j], kernel[2 * K + j]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[i * n + j] = dot(g[j], half[i][0], half[i][1], half[i][2]);
}

void *winograd_weights(struct bind *bind, int m, const struct value *weights,
                       const struct panels *panels, struct type *type)
{
    const int products = (m + 2) * (m + 2);
    const int64_t in_c = panels->len / products;
    const float *from = weights->data; /* OIHW */
    float *to = panels_new(bind, panels, type);
    double of_kernel[MOST * MOST];

    for (int64_t oc = 0; oc < panels->n_rows; oc++)
        for (int64_t ic = 0; ic < in_c; ic++) {
            winograd_transform(m, &from[(oc * in_c + ic) * K * K], of_kernel);
            for (int f = 0; f < products; f++)
                to[panels_place(panels, 0, oc, f * in_c + ic)] = (float)of_kernel[f];
        }
    return to;
}
