#include "search/gaussian.h"

#include <math.h>

/* Of the diagonal: rounding, and values that repeat. */
static const double jitter = 1e-8;

static const double lengths[] = { 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 };

static double matern(const double *x, const double *y, int dims, double length)
{
    double squares = 0, r;

    for (int i = 0; i < dims; i++)
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    r = sqrt(5 * squares) / length;
    return (1 + r + r * r / 3) * exp(-r);
}

/* The lower triangle of K = L L'. */
static void factor(const struct gaussian *g, double length, double *lower)
{
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = matern(&g->points[i * g->dims], &g->points[k * g->dims], g->dims, length);

            if (i == k)
                sum += jitter;
            for (int j = 0; j < k; j++)
                sum -= lower[i * g->n + j] * lower[k * g->n + j];
            lower[i * g->n + k] =
                i == k ? sqrt(sum > jitter / 2 ? sum : jitter / 2) : sum / lower[k * g->n + k];
        }
}

static void solve_lower(const double *lower, int n, const double *b, double *x)
{
    for (int i = 0; i < n; i++) {
        double sum = b[i];

        for (int j = 0; j < i; j++)
            sum -= lower[i * n + j] * x[j];
        x[i] = sum / lower[i * n + i];
    }
}

static void solve_upper(const double *lower, int n, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];

        for (int j = i + 1; j < n; j++)
            sum -= lower[j * n + i] * x[j];
        x[i] = sum / lower[i * n + i];
    }
}

/* The logarithm of it, but for a constant. */
static double likelihood(const struct gaussian *g, const double *lower, const double *half)
{
    double sum = 0;

    for (int i = 0; i < g->n; i++)
        sum -= half[i] * half[i] / 2 + log(lower[i * g->n + i]);
    return sum;
}

void gaussian_fit(struct gaussian *g, struct arena *arena)
{
    const size_t n = (size_t)g->n;
    double *y = arena_array(arena, double, n), *half = arena_array(arena, double, n);
    double *lower = arena_array(arena, double, n *n), best = 0, sum = 0;

    for (int i = 0; i < g->n; i++)
        sum += g->values[i];
    g->mean = sum / g->n;
    sum = 0;
    for (int i = 0; i < g->n; i++)
        sum += (g->values[i] - g->mean) * (g->values[i] - g->mean);
    g->scale = sum > 0 ? sqrt(sum / g->n) : 1;
    for (int i = 0; i < g->n; i++)
        y[i] = (g->values[i] - g->mean) / g->scale;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        double now;

        factor(g, lengths[k], lower);
        solve_lower(lower, g->n, y, half);
        now = likelihood(g, lower, half);
        if (k == 0 || now > best) {
            best = now;
            g->length = lengths[k];
        }
    }
    factor(g, g->length, lower);
    solve_lower(lower, g->n, y, half);
    solve_upper(lower, g->n, half);
    g->cholesky = lower;
    g->alpha = half;
}

void gaussian_predict(const struct gaussian *g, const double *point, double *mean,
                      double *deviation)
{
    struct arena arena = { NULL };
    double *k = arena_array(&arena, double, g->n), *v = arena_array(&arena, double, g->n);
    double variance = 1 + jitter;

    *mean = 0;
    for (int i = 0; i < g->n; i++) {
        k[i] = matern(point, &g->points[i * g->dims], g->dims, g->length);
        *mean += k[i] * g->alpha[i];
    }
    solve_lower(g->cholesky, g->n, k, v);
    for (int i = 0; i < g->n; i++)
        variance -= v[i] * v[i];
    *mean = g->mean + g->scale * *mean;
    *deviation = g->scale * sqrt(variance > 0 ? variance : 0);
    arena_release(&arena);
}

double gaussian_improvement(const struct gaussian *g, const double *point, double least)
{
    static const double pi = 3.14159265358979323846;
    double mean, deviation, z;

    gaussian_predict(g, point, &mean, &deviation);
    if (deviation < g->scale * 1e-6)
        return 0;
    z = (least - mean) / deviation;
    return deviation * (z * 0.5 * erfc(-z / sqrt(2)) + exp(-z * z / 2) / sqrt(2 * pi));
}
