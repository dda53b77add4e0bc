/* points.h - the numbers of a tensor, or of one channel, made ready for many trials: what each loss
 * would be with a format and a scale. For search.c.
 *
 * Up to POINTS_SORTED numbers, and histograms, are sorted once; rounding keeps the order, so that
 * the histograms of kld need no arrays of bins. More numbers than that are taken as they are. */
#ifndef QUANTIZE_POINTS_H
#define QUANTIZE_POINTS_H

#include "quantize/metrics.h"
#include "quantize/spread.h"

enum { POINTS_SORTED = HISTOGRAM_BINS + 1 };

struct points {
    struct spread spread;
    bool sorted;
    double total, non_zero; /* numbers */
    double xx;              /* sum of squares */
    double entropy;         /* sum p log p over the bins of kld, p spread evenly */
    double scale;           /* kld_scale */
    uint64_t non_finite;
    /* room */
    float *at, *y;
    double *count;    /* sorted ones */
    int16_t *bin;     /* sorted ones: of kld, of the points or of what became of them */
    double *below;    /* sorted ones: [KLD_BINS + 1], what share lies in the bins below each */
    uint64_t *x_bins; /* not sorted: [KLD_BINS] */
};

/* Room for up to n numbers, or for a histogram. */
struct points points_new(struct arena *arena, size_t n);

void points_of_numbers(struct points *points, const float *numbers, size_t n);
void points_of_histogram(struct points *points, const struct histogram *histogram);

/* What they lose when stored with this scale. */
void points_loss(const struct points *points, const struct rounder *rounder, double scale,
                 struct loss_sums *out);

#endif
