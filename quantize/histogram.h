/* histogram.h - statistics of a tensor: range, sum and distribution of magnitudes.
 *
 * A tally accepts values in any order and portions without knowing their range: its bins divide [0,
 * 2^exponent), and a greater value merges pairs of bins until it fits. Scaling by powers of two is
 * exact, so the result equals counting all values at once in the final range. Only sums depend on
 * the order; they are not merged. */
#ifndef QUANTIZE_HISTOGRAM_H
#define QUANTIZE_HISTOGRAM_H

#include <stdint.h>

#include "relay_ir/type.h"

enum {
    HISTOGRAM_BINS = 2048,
    TALLY_BINS = 16384 /* at least 4 to 8 per histogram bin */
};

struct tally {
    uint64_t n;          /* finite values */
    uint64_t zeros;      /* zeros among them */
    uint64_t non_finite; /* infinities and NaN, counted only here */
    double min, max;     /* 0 if n is 0 */
    double sum;          /* of the last tally_fill */
    int exponent;
    uint64_t *bins; /* [TALLY_BINS] of |x|, zeros included */
};

/* The distribution of |x|: bin i counts [i, i + 1) * limit / HISTOGRAM_BINS; the last one includes
 * `limit`. */
struct histogram {
    double limit; /* greatest |x|; 0 = all zero, or empty */
    uint64_t n, zeros;
    uint64_t bins[HISTOGRAM_BINS]; /* zeros are in the first bin */
};

/* An empty tally. */
struct tally tally_new(struct arena *arena);

/* Replaces the content by a tensor of a floating-point type. */
void tally_fill(struct tally *tally, const struct tensor *tensor);

/* Adds all of `from` but its sum. */
void tally_merge(struct tally *into, const struct tally *from);

/* Converts to a histogram: a tally bin counts where its middle is. */
void tally_histogram(const struct tally *tally, struct histogram *out);

/* Middle of a bin. */
double histogram_middle(const struct histogram *histogram, int bin);

/* Count of non-zero values in a bin. */
uint64_t histogram_non_zeros(const struct histogram *histogram, int bin);

#endif
