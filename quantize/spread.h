/* spread.h - the magnitudes of a tensor as weighted points, and what a format makes of them: the
 * core of the scale rules and of the search. All formats are symmetric, so signs do not matter. */
#ifndef QUANTIZE_SPREAD_H
#define QUANTIZE_SPREAD_H

#include "quantize/histogram.h"
#include "quantize/number_format.h"

enum { SPREAD_BLOCK = 256 };

/* Rounds arrays to the numbers of a format. */
struct rounder {
    const struct number_format *format;
    float limit;      /* the greatest number of the format */
    float table[256]; /* minifloats: the number of each code */
};

struct rounder rounder_of(const struct number_format *format);

/* to[i] = the number that from[i] is stored as. At most SPREAD_BLOCK of them. */
void rounder_apply(const struct rounder *rounder, const float *from, float *to, size_t n);

/* y[i] = from[i] / scale, rounded, times scale: of any n. */
void rounder_simulate(const struct rounder *rounder, const float *from, double scale, float *y,
                      size_t n);

struct spread {
    size_t n;
    const float *at;     /* [n]: finite, not negative */
    const double *count; /* [n]: how many numbers are there; NULL: one each */
    double limit;        /* the greatest */
};

/* The bins that are not empty, at their middles, and the zeros. For `at` and `count` there must be
 * room for HISTOGRAM_BINS + 1. */
struct spread spread_of_histogram(const struct histogram *histogram, float *at, double *count);

/* The numbers that are finite; room for n. */
struct spread spread_of_numbers(const float *numbers, size_t n, float *at);

/* The histogram of the finite ones. Its range is known before anything is counted, so that no bin's
 * border is off, unlike one made of a tally. */
void histogram_of_numbers(const float *numbers, size_t n, struct histogram *out);

/* The sum of squared errors with this scale. */
double spread_error(const struct spread *spread, const struct rounder *rounder, double scale);

/* The sum of squared errors that numbers above the threshold make because they become it: no scale
 * threshold / limit of any format has less. */
double spread_clipping(const struct spread *spread, double threshold);

#endif
