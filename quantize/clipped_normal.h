/* clipped_normal.h - a normal distribution that is cut off at both ends: what lies outside of the
 * bounds lies on them. That is what bounded activations leave of a batch norm's numbers (Nagel et
 * al. 2019, 1906.04721, appendix C). */
#ifndef QUANTIZE_CLIPPED_NORMAL_H
#define QUANTIZE_CLIPPED_NORMAL_H

struct clipped_normal {
    double mean, deviation; /* of the normal one; a deviation of 0 is one number */
    double low, high;       /* low <= high; -inf, inf = not bounded */
};

struct clipped_normal normal_of(double mean, double deviation);

double clipped_mean(const struct clipped_normal *x);
double clipped_variance(const struct clipped_normal *x);

/* The normal one of the same mean and variance, without bounds. */
struct clipped_normal clipped_flatten(const struct clipped_normal *x);

/* min(max(x, low), high), of the same kind exactly. */
struct clipped_normal clipped_clip(const struct clipped_normal *x, double low, double high);

/* factor * x + shift, exactly. */
struct clipped_normal clipped_linear(const struct clipped_normal *x, double factor, double shift);

/* x where it is not negative, else slope * x: a normal one of the same mean and variance. */
struct clipped_normal clipped_leaky(const struct clipped_normal *x, double slope);

#endif
