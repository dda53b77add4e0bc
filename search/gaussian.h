/* gaussian.h - Gaussian process regression and expected improvement: Bayesian optimisation of an
 * expensive function with a few dozen evaluations.
 *
 * Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1, with a Matern 5/2
 * kernel of one length scale, chosen from a few by likelihood; expected improvement (Jones,
 * Schonlau, Welch 1998) over a list of points. Implemented here since no C library in Debian has
 * it. */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include <stdbool.h>

#include "base/arena.h"

/* Observations: n points of `dims` coordinates, best scaled to 0 .. 1, with values. */
struct gaussian {
    int n, dims;
    const double *points; /* [n][dims] */
    const double *values; /* [n] */

    /* set by gaussian_fit: */
    double mean, scale, length;
    double *cholesky; /* [n][n], lower */
    double *alpha;    /* [n] */
};

/* Fits the process; n >= 1. In the arena. */
void gaussian_fit(struct gaussian *process, struct arena *arena);

/* Mean and standard deviation at a point. */
void gaussian_predict(const struct gaussian *process, const double *point, double *mean,
                      double *deviation);

/* Expected improvement below `least`; >= 0. */
double gaussian_improvement(const struct gaussian *process, const double *point, double least);

#endif
