/* winograd_weights.c - the kernel transform G w G^T of 3 x 3 kernels. G is the matrix of F(m, 3) at
 * the points 0, 1, -1 (and 2, -2) and infinity. With stride 2 it is that of F(m, 2) at 0, 1 (and
 * -1, 2) and infinity for the outer taps, and a row for the middle one. */
#include "codegen_c/kernels/conv/winograd.h"
#include "codegen_c/microkernel/pairs.h"

enum { K = 3, MOST = 6 };

static const double two[][K] = { { 1, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 } };
static const double four[][K] = { { 1.0 / 4, 0, 0 },
                                  { -1.0 / 6, -1.0 / 6, -1.0 / 6 },
                                  { -1.0 / 6, 1.0 / 6, -1.0 / 6 },
                                  { 1.0 / 24, 1.0 / 12, 1.0 / 6 },
                                  { 1.0 / 24, -1.0 / 12, 1.0 / 6 },
                                  { 0, 0, 1 } };
static const double two_strided[][K] = { { 1, 0, 0 }, { 1, 0, 1 }, { 0, 0, 1 }, { 0, 1, 0 } };
static const double four_strided[][K] = { { 1.0 / 2, 0, 0 },
                                          { 1.0 / 2, 0, 1.0 / 2 },
                                          { 1.0 / 6, 0, -1.0 / 6 },
                                          { 1.0 / 6, 0, 1.0 / 3 },
                                          { 0, 0, 1 },
                                          { 0, 1, 0 } };

/* Sums of squares of the rows of B^T (templates/helpers/winograd_*input.c.tmpl). */
static const double squares_two[] = { 2, 2, 2, 2 }, squares_four[] = { 42, 34, 34, 10, 10, 42 };
static const double squares_two_strided[] = { 2, 1, 2, 1 };
static const double squares_four_strided[] = { 10, 6, 14, 2, 10, 1 };

static double dot(const double *g, double a, double b, double c)
{
    return g[0] * a + g[1] * b + g[2] * c;
}

void winograd_transform(int m, int stride, const float *kernel, double *to)
{
    const double(*direct)[K] = m == 4 ? four : two;
    const double(*strided)[K] = m == 4 ? four_strided : two_strided;
    const double(*g)[K] = stride == 2 ? strided : direct;
    const int n = m + 2;
    double half[MOST][K]; /* G w */

    for (int i = 0; i < n; i++)
        for (int j = 0; j < K; j++)
            half[i][j] = dot(g[i], kernel[j], kernel[K + j], kernel[2 * K + j]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            to[i * n + j] = dot(g[j], half[i][0], half[i][1], half[i][2]);
}

float *winograd_weights(struct bind *bind, const struct winograd_shape *shape,
                        const struct value *weights, const struct panels *panels, struct type *type)
{
    const int matrices = (shape->m + 2) * (shape->m + 2);
    const int64_t in_c = panels->len / matrices;
    const float *from = weights->data; /* OIHW */
    const char *how = arena_printf(bind->arena, "winograd %d %d", shape->m, shape->stride);
    bool made = false;
    float *to = shape->pairs /* they are scaled afterwards */
                    ? panels_new(bind, panels, type)
                    : panels_kept(bind, weights, panels, type, how, &made);
    double of_kernel[MOST * MOST];

    if (made)
        return to;
    for (int64_t oc = 0; oc < panels->n_rows; oc++)
        for (int64_t ic = 0; ic < in_c; ic++) {
            winograd_transform(shape->m, shape->stride, &from[(oc * in_c + ic) * K * K], of_kernel);
            for (int f = 0; f < matrices; f++)
                to[panels_place(panels, 0, oc, f * in_c + ic)] = (float)of_kernel[f];
        }
    return to;
}

double winograd_usual_square(int m, int stride, int i)
{
    if (stride == 2)
        return m == 4 ? squares_four_strided[i] : squares_two_strided[i];
    return m == 4 ? squares_four[i] : squares_two[i];
}

void winograd_scale_weights(const struct winograd_shape *shape, float *weights,
                            const struct panels *panels, int64_t step, float *scales, float *sums)
{
    const int n = shape->m + 2;
    const int64_t in_c = panels->len / (n * n);

    for (int f = 0; f < n * n; f++) {
        const double usual = winograd_usual_square(shape->m, shape->stride, f / n) *
                             winograd_usual_square(shape->m, shape->stride, f % n);

        for (int64_t oc = 0; oc < panels->n_rows; oc++) {
            float *const row = &weights[panels_place(panels, 0, oc, f * in_c)];
            const int64_t next = panels_place(panels, 0, oc, 1) - panels_place(panels, 0, oc, 0);
            const float scale = pairs_scale(row, next, in_c, usual);

            for (int64_t k = 0; k < in_c; k++)
                row[k * next] /= scale;
            scales[f * step + oc] = scale;
            sums[f * step + oc] = pairs_sum(row, next, in_c);
        }
    }
}
