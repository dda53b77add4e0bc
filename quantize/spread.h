/* spread.h - magnitudes of a tensor as weighted points, and their rounding to a format: the core of
 * scale rules and search. Formats are symmetric, or
 * without a sign and for what has none, so signs do not matter. */
#ifndef QUANTIZE_SPREAD_H
#define QUANTIZE_SPREAD_H

#include "quantize/histogram.h"
#include "quantize/number_format.h"

enum { SPREAD_BLOCK = 256 };

/* Rounds arrays to a format. */
struct rounder {
    const struct number_format *format;
    float limit;      /* greatest value of the format */
    float table[256]; /* minifloats: value of each code */
};

struct rounder rounder_of(const struct number_format *format);

/* to[i] = from[i] rounded to the format; n <= SPREAD_BLOCK. */
void rounder_apply(const struct rounder *rounder, const float *from, float *to, size_t n);

/* y[i] = from[i] / scale, rounded, times scale; any n. */
void rounder_simulate(const struct rounder *rounder, const float *from, double scale, float *y,
                      size_t n);

struct spread {
    size_t n;
    const float *at;     /* [n]: finite, not negative */
    const double *count; /* [n] weights; NULL: 1 each */
    double limit;        /* greatest point */
};

/* Points from the middles of non-empty bins, and the zeros. at and count hold HISTOGRAM_BINS +
 * 1. */
struct spread spread_of_histogram(const struct histogram *histogram, float *at, double *count);

/* Points from the finite values; `at` holds n. */
struct spread spread_of_numbers(const float *numbers, size_t n, float *at);

/* Histogram of the finite values. Its range is known in advance, so bin borders are exact, unlike
 * those from a tally. */
void histogram_of_numbers(const float *numbers, size_t n, struct histogram *out);

/* Sum of squared errors with this scale. */
double spread_error(const struct spread *spread, const struct rounder *rounder, double scale);

/* Sum of squared errors of clipping at the threshold: a lower bound for any format with that
 * threshold. */
double spread_clipping(const struct spread *spread, double threshold);

#endif
