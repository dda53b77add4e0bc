/* metrics.h - how far numbers are from others, and how they are spread.
 *
 * Of x (f32) and y (what became of it), n pairs; sums are kept in double, in the order of adding.
 *   mse   sum (x - y)^2 / n
 *   mae   sum |x - y| / n
 *   snr   sum (x - y)^2 / sum x^2: noise power by signal power (PopRT's definition); 0 if both are
 * 0 kld   Kullback-Leibler divergence of the histograms of |x| and |y|, 2048 bins up to the
 * greatest |x| cos   1 - x y / (|x| |y|); 0 if both are zeros, 1 if one is All are losses: 0 is
 * best. Pairs with a NaN or infinity are left out and counted. */
#ifndef QUANTIZE_METRICS_H
#define QUANTIZE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum loss { LOSS_MSE, LOSS_MAE, LOSS_SNR, LOSS_KLD, LOSS_COS, LOSS_COUNT };

const char *loss_name(enum loss loss); /* "mse" */
bool loss_parse(const char *text, enum loss *out);

/* Mean, standard deviation (of the population), skewness and excess kurtosis; n = 0: all 0. */
enum { MOMENT_BINS = 32 };
struct moments {
    uint64_t n;
    double mean, std, min, max, skewness, kurtosis;
    uint64_t histogram[MOMENT_BINS]; /* equal bins from min to max */
};

/* Accumulates pairs from any number of tensors. Two passes over the data where a histogram's range
 * must be known: metrics_range first, for all tensors, then metrics_add for all; metrics_pair does
 * both for one tensor. */
struct metrics; /* opaque */

struct metrics *metrics_new(struct arena *arena);
void metrics_range(struct metrics *metrics, const float *x, const float *y, int64_t n);
void metrics_add(struct metrics *metrics, const float *x, const float *y, int64_t n);

struct metrics_result {
    uint64_t n, non_finite;
    double loss[LOSS_COUNT];
    struct moments data, quantized, noise; /* x, y, y - x */
};
void metrics_result(const struct metrics *metrics, struct metrics_result *out);

/* One tensor, at once. */
void metrics_of(struct arena *arena, const float *x, const float *y, int64_t n,
                struct metrics_result *out);

#endif
