/* metrics.h - losses between data and its quantised form, and moments of a distribution.
 *
 * x and its quantised form y, n pairs; sums are double, in the order of calls.
 *
 *   mse   sum (x - y)^2 / n
 *   mae   sum |x - y| / n
 *   snr   sum (x - y)^2 / sum x^2: noise power by signal power (PopRT's definition); 0 if both are
 *         0, infinite if only the signal is
 *   kld   Kullback-Leibler divergence of the distribution of |x| from that of |y|: histograms of
 *         KLD_BINS bins up to the greatest |x|, what is above in the last: sum p log(p / q) where
 *         p > 0. Zeros of x do not count, since every format stores them. Rounded numbers leave
 *         most bins empty, and so do few numbers: in both histograms, what lies in a bin is spread
 *         evenly over the bins that are nearer to it than to another one that holds something
 *         (above the last one: no further than below it). Elsewhere q is KLD_LEAST, so that
 *         saturation is dear
 *   cos   1 - x y / (|x| |y|); 1 if one of both is all zeros
 *
 * All are losses: 0 is best. Pairs with a NaN or infinity are left out and counted. */
#ifndef QUANTIZE_METRICS_H
#define QUANTIZE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum loss { LOSS_MSE, LOSS_MAE, LOSS_SNR, LOSS_KLD, LOSS_COS, LOSS_COUNT };

const char *loss_name(enum loss loss); /* "mse" */
bool loss_parse(const char *text, enum loss *out);
const char *loss_list(void); /* "mse, mae ..." for messages */

/* Mean, standard deviation (population), skewness and excess kurtosis (both 0 if all values are
 * equal); n = 0: all 0. */
enum { MOMENT_BINS = 32 };
struct moments {
    uint64_t n;
    double mean, std, min, max, skewness, kurtosis;
    uint64_t histogram[MOMENT_BINS]; /* equal bins from min to max, inclusive */
};

/* Accumulates pairs of any number of tensors in two passes over the data: metrics_range for all
 * tensors, then metrics_add for all. */
struct metrics; /* opaque */

struct metrics *metrics_new(struct arena *arena);
void metrics_range(struct metrics *metrics, const float *x, const float *y, int64_t n);
void metrics_add(struct metrics *metrics, const float *x, const float *y, int64_t n);

struct metrics_result {
    uint64_t n, non_finite; /* pairs; n excludes non_finite */
    double loss[LOSS_COUNT];
    struct moments data, quantized, noise; /* x, y, y - x */
};
void metrics_result(const struct metrics *metrics, struct metrics_result *out);

/* Metrics of one tensor. */
void metrics_of(struct arena *arena, const float *x, const float *y, int64_t n,
                struct metrics_result *out);

/* metrics_of with integer weights counts[i] per pair; NULL: 1. */
void metrics_of_counted(struct arena *arena, const float *x, const float *y, const double *counts,
                        int64_t n, struct metrics_result *out);

/* --- building blocks of losses ---------------------------------------------------------------- */

enum { KLD_BINS = 2048 };
#define KLD_LEAST 1e-30

struct loss_sums {
    double n, noise, absolute; /* number of pairs, sum (x - y)^2, sum |x - y| */
    double xx, yy, xy;
    double kld; /* mean divergence */
};

void loss_of_sums(const struct loss_sums *sums, double loss[LOSS_COUNT]);

/* Bin of a magnitude; `scale` is kld_scale(greatest |x|). */
double kld_scale(double limit);

static inline int kld_bin(double magnitude, double scale)
{
    const double bin = magnitude * scale;

    return bin < KLD_BINS ? (int)bin : KLD_BINS - 1;
}

/* First and last bin over which bin `at` is spread; previous, next: neighbouring non-empty bins,
 * -1: none. */
int kld_first(int previous, int at);
int kld_last(int previous, int at, int next);

/* x[i], y[i]: counts of n values in bin i. */
double kld_of_counts(const uint64_t x[KLD_BINS], const uint64_t y[KLD_BINS], uint64_t n);

#endif
