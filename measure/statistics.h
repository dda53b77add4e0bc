/* statistics.h - what is said of many measurements of one thing. */
#ifndef MEASURE_STATISTICS_H
#define MEASURE_STATISTICS_H

#include "base/arena.h"

struct series { /* in the order of measuring */
    struct arena *arena;
    double *at;
    int n, capacity;
};

struct summary {
    int n;
    double least, low, median, high; /* low and high: the quartiles */
};

void series_add(struct series *series, double number);

/* Of no samples: all 0. Between two samples quartiles are interpolated. */
struct summary summarise(const struct series *series);

/* Of a[i] / b[i]: what was measured side by side is compared, so that what slows both cancels. */
struct summary summarise_ratio(const struct series *a, const struct series *b);

#endif
