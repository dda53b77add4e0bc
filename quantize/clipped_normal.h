/* clipped_normal.h - normal distribution clipped at both ends, with its mass outside moved to the
 * bounds: the result of a bounded activation on a batch norm's output (Nagel et al. 2019,
 * 1906.04721, appendix C). */
#ifndef QUANTIZE_CLIPPED_NORMAL_H
#define QUANTIZE_CLIPPED_NORMAL_H

struct clipped_normal {
    double mean, deviation; /* of the unclipped normal; deviation 0 is a constant */
    double low, high;       /* low <= high; -inf, inf = unbounded */
};

struct clipped_normal normal_of(double mean, double deviation);

double clipped_mean(const struct clipped_normal *x);
double clipped_variance(const struct clipped_normal *x);

/* Unbounded normal with equal mean and variance. */
struct clipped_normal clipped_flatten(const struct clipped_normal *x);

/* min(max(x, low), high), exact. */
struct clipped_normal clipped_clip(const struct clipped_normal *x, double low, double high);

/* factor * x + shift, exact. */
struct clipped_normal clipped_linear(const struct clipped_normal *x, double factor, double shift);

/* Leaky relu, approximated by a normal with equal mean and variance. */
struct clipped_normal clipped_leaky(const struct clipped_normal *x, double slope);

#endif
