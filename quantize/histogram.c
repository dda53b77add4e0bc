#include "quantize/histogram.h"

#include <math.h>
#include <string.h>

enum {
    TALLY_BITS = 14,       /* 1 << TALLY_BITS is TALLY_BINS */
    LEAST_EXPONENT = -900, /* smaller numbers all lie in the first bin */
    LANES = 4              /* partial sums, in an order that is always the same */
};

_Static_assert(1 << TALLY_BITS == TALLY_BINS, "bins");

struct tally tally_new(struct arena *arena)
{
    return (struct tally){ .exponent = LEAST_EXPONENT,
                           .bins = arena_array(arena, uint64_t, TALLY_BINS) };
}

/* Strictly less than 2^exponent, so that merging bins never meets the upper border. */
static int exponent_for(double limit)
{
    int exponent = LEAST_EXPONENT;

    if (limit > 0)
        frexp(limit, &exponent);
    return exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent;
}

static double limit_of(const struct tally *tally)
{
    return fmax(fabs(tally->min), fabs(tally->max));
}

static inline double number_at(const struct tensor *tensor, int64_t i)
{
    return tensor->type.dtype == DTYPE_F32 ? (double)((const float *)tensor->data)[i]
                                           : tensor_at(tensor, i);
}

static void measure(struct tally *tally, const struct tensor *tensor, int64_t n)
{
    double sums[LANES] = { 0 }, min = INFINITY, max = -INFINITY;
    uint64_t zeros = 0, finite = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = number_at(tensor, i);

        if (!isfinite(x))
            continue;
        finite++;
        zeros += x == 0;
        min = x < min ? x : min;
        max = x > max ? x : max;
        sums[i % LANES] += x;
    }
    tally->n = finite;
    tally->zeros = zeros;
    tally->non_finite = (uint64_t)n - finite;
    tally->min = finite ? min + 0.0 : 0; /* no -0 */
    tally->max = finite ? max + 0.0 : 0;
    tally->sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void tally_fill(struct tally *tally, const struct tensor *tensor)
{
    const int64_t n = type_elements(&tensor->type);
    double scale;

    measure(tally, tensor, n);
    tally->exponent = exponent_for(limit_of(tally));
    memset(tally->bins, 0, TALLY_BINS * sizeof *tally->bins);
    scale = ldexp(1, TALLY_BITS - tally->exponent);
    for (int64_t i = 0; i < n; i++) {
        const double x = number_at(tensor, i);

        if (isfinite(x))
            tally->bins[(int)(fabs(x) * scale)]++;
    }
}

/* Where bin i lies once the range has doubled `doublings` times. */
static int merged_bin(int i, int doublings)
{
    return doublings < TALLY_BITS ? i >> doublings : 0;
}

static void widen(struct tally *tally, int exponent)
{
    const int doublings = exponent - tally->exponent;

    for (int i = 1; i < TALLY_BINS && doublings > 0; i++) {
        const uint64_t count = tally->bins[i];

        tally->bins[i] = 0;
        tally->bins[merged_bin(i, doublings)] += count;
    }
    tally->exponent = exponent;
}

void tally_merge(struct tally *into, const struct tally *from)
{
    if (from->n) {
        if (from->exponent > into->exponent)
            widen(into, from->exponent);
        for (int i = 0; i < TALLY_BINS; i++)
            into->bins[merged_bin(i, into->exponent - from->exponent)] += from->bins[i];
        into->min = into->n && into->min < from->min ? into->min : from->min;
        into->max = into->n && into->max > from->max ? into->max : from->max;
    }
    into->n += from->n;
    into->zeros += from->zeros;
    into->non_finite += from->non_finite;
}

void tally_histogram(const struct tally *tally, struct histogram *out)
{
    const double width = ldexp(1, tally->exponent - TALLY_BITS);

    *out = (struct histogram){ .limit = limit_of(tally), .n = tally->n, .zeros = tally->zeros };
    for (int i = 0; i < TALLY_BINS; i++) {
        int bin = 0;

        if (tally->bins[i] == 0)
            continue;
        if (out->limit > 0)
            bin = (int)fmin((i + 0.5) * width / out->limit * HISTOGRAM_BINS, HISTOGRAM_BINS - 1);
        out->bins[bin] += tally->bins[i];
    }
}

double histogram_middle(const struct histogram *histogram, int bin)
{
    return (bin + 0.5) * histogram->limit / HISTOGRAM_BINS;
}

uint64_t histogram_non_zeros(const struct histogram *histogram, int bin)
{
    return histogram->bins[bin] - (bin == 0 ? histogram->zeros : 0);
}
