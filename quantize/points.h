/* points.h - values of a tensor or channel prepared for many trials of formats and scales. For
 * search.c.
 *
 * Up to POINTS_SORTED values, and histograms, are sorted once; rounding is monotonic, so the
 * histograms of kld need no arrays of bins. Larger inputs are used unsorted. */
#ifndef QUANTIZE_POINTS_H
#define QUANTIZE_POINTS_H

#include "quantize/metrics.h"
#include "quantize/spread.h"

enum { POINTS_SORTED = HISTOGRAM_BINS + 1 };

struct points {
    struct spread spread;
    bool sorted;
    double total, non_zero; /* counts of values */
    double xx;              /* sum of squares */
    double entropy;         /* sum p log p over kld's bins, p spread evenly */
    double scale;           /* kld_scale */
    uint64_t non_finite;
    /* buffers */
    float *at, *y;
    double *count;    /* if sorted */
    int16_t *bin;     /* if sorted: kld bin of the points or of their quantised values */
    double *below;    /* if sorted: [KLD_BINS + 1] share below each bin */
    uint64_t *x_bins; /* if not sorted: [KLD_BINS] */
};

/* Allocates for up to n values, or a histogram. */
struct points points_new(struct arena *arena, size_t n);

void points_of_numbers(struct points *points, const float *numbers, size_t n);
void points_of_histogram(struct points *points, const struct histogram *histogram);

/* Losses of storing the points with this scale. */
void points_loss(const struct points *points, const struct rounder *rounder, double scale,
                 struct loss_sums *out);

#endif
