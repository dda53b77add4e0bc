/* histogram.h - what is counted of a tensor: extent, sum and the distribution of magnitudes.
 *
 * A tally takes numbers in any order and any portions and needs no knowledge of their range: its
 * bins divide [0, 2^exponent), and when a greater number comes, pairs of bins are merged until it
 * fits. Scaling by a power of two is exact, so the result is that of counting everything at once in
 * the final range, whatever the order was. Only sums depend on order; they are not merged. */
#ifndef QUANTIZE_HISTOGRAM_H
#define QUANTIZE_HISTOGRAM_H

#include <stdint.h>

#include "relay_ir/type.h"

enum {
    HISTOGRAM_BINS = 2048,
    TALLY_BINS = 16384 /* 4 to 8 of them, or more, become one of a histogram */
};

struct tally {
    uint64_t n;          /* finite numbers */
    uint64_t zeros;      /* of them */
    uint64_t non_finite; /* infinities and NaN, which are not counted elsewhere */
    double min, max;     /* 0 when n is 0 */
    double sum;          /* of the numbers of the last tally_fill */
    int exponent;
    uint64_t *bins; /* [TALLY_BINS]; of |x|, zeros included */
};

/* The distribution of |x|: bin i counts [i, i + 1) * limit / HISTOGRAM_BINS; the last one `limit`
 * itself as well. */
struct histogram {
    double limit; /* the greatest |x|; 0 = all numbers are zero, or there are none */
    uint64_t n, zeros;
    uint64_t bins[HISTOGRAM_BINS]; /* zeros are in the first */
};

/* An empty tally. */
struct tally tally_new(struct arena *arena);

/* Forgets what it holds and counts this tensor, of a floating-point type. */
void tally_fill(struct tally *tally, const struct tensor *tensor);

/* Adds all that `from` holds but its sum. */
void tally_merge(struct tally *into, const struct tally *from);

/* Divides anew: a bin of the tally goes, whole, where its middle lies. */
void tally_histogram(const struct tally *tally, struct histogram *out);

/* The number in the middle of a bin. */
double histogram_middle(const struct histogram *histogram, int bin);

/* The numbers in a bin that are not zero. */
uint64_t histogram_non_zeros(const struct histogram *histogram, int bin);

#endif
