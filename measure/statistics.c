#include "measure/statistics.h"

#include <stdlib.h>
#include <string.h>

void series_add(struct series *series, double number)
{
    if (series->n == series->capacity) {
        const int capacity = series->capacity ? 2 * series->capacity : 16;
        double *grown = arena_array(series->arena, double, capacity);

        if (series->n)
            memcpy(grown, series->at, (size_t)series->n * sizeof *grown);
        series->at = grown;
        series->capacity = capacity;
    }
    series->at[series->n++] = number;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q)
{
    const double position = q * (n - 1);
    const int below = (int)position, above = below + 1 < n ? below + 1 : below;

    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

static struct summary summarise_numbers(const double *at, int n)
{
    struct arena arena = { NULL };
    struct summary summary = { .n = n };
    double *sorted;

    if (n == 0)
        return summary;
    sorted = arena_array(&arena, double, n);
    memcpy(sorted, at, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    summary.least = sorted[0];
    summary.low = quantile(sorted, n, 0.25);
    summary.median = quantile(sorted, n, 0.5);
    summary.high = quantile(sorted, n, 0.75);
    arena_release(&arena);
    return summary;
}

struct summary summarise(const struct series *series)
{
    return summarise_numbers(series->at, series->n);
}

struct summary summarise_ratio(const struct series *a, const struct series *b)
{
    const int n = a->n < b->n ? a->n : b->n;
    struct arena arena = { NULL };
    double *ratios = arena_array(&arena, double, n + 1);
    struct summary summary;

    for (int i = 0; i < n; i++)
        ratios[i] = b->at[i] > 0 ? a->at[i] / b->at[i] : 0;
    summary = summarise_numbers(ratios, n);
    arena_release(&arena);
    return summary;
}
