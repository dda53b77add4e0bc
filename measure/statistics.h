/* statistics.h - summary statistics of repeated measurements. */
#ifndef MEASURE_STATISTICS_H
#define MEASURE_STATISTICS_H

#include "base/arena.h"

struct series { /* in order of measurement */
    struct arena *arena;
    double *at;
    int n, capacity;
};

struct summary {
    int n;
    double least, low, median, high; /* low and high: the quartiles */
};

void series_add(struct series *series, double number);

/* All 0 without samples. Quartiles are interpolated. */
struct summary summarise(const struct series *series);

/* Summary of a[i] / b[i], which cancels common disturbances. */
struct summary summarise_ratio(const struct series *a, const struct series *b);

#endif
