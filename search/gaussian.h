/* gaussian.h - a Gaussian process over a few numbers, and where to look next: Bayesian optimisation
 * of what is dear to evaluate, with a few dozen evaluations.
 *
 * Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1, with the Matern
 * 5/2 kernel of one length for all dimensions, which is chosen of a few by the likelihood of what
 * was seen; expected improvement (Jones, Schonlau, Welch 1998) over a list of points. Our own,
 * because Debian has no library of it: NLopt and GSL have no process, dlib's global search bounds
 * functions by Lipschitz constants, and all but GSL are C++. */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include <stdbool.h>

#include "base/arena.h"

/* What was seen: n points of `dims` coordinates, best scaled to 0 .. 1, and their values. */
struct gaussian {
    int n, dims;
    const double *points; /* [n][dims] */
    const double *values; /* [n] */

    /* gaussian_fit's: */
    double mean, scale, length;
    double *cholesky; /* [n][n], lower */
    double *alpha;    /* [n] */
};

/* n >= 1. Memory of the arena. */
void gaussian_fit(struct gaussian *process, struct arena *arena);

/* What is expected at a point, and the standard deviation of that. */
void gaussian_predict(const struct gaussian *process, const double *point, double *mean,
                      double *deviation);

/* By how much a point may be expected to fall below `least`; >= 0. */
double gaussian_improvement(const struct gaussian *process, const double *point, double least);

#endif
