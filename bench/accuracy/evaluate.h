/* evaluate.h - runs a function on a dataset's samples, and counts. */
#ifndef BENCH_ACCURACY_EVALUATE_H
#define BENCH_ACCURACY_EVALUATE_H

#include "bench/accuracy/dataset.h"

struct score {
    int64_t n;
    int *class;       /* [n]: the one with the greatest result, the first of equals; -1: NaN */
    bool *right;      /* [n] */
    bool *right5;     /* [n] */
    double *errors;   /* [n], of WINDOWS */
    int64_t n_right;  /* top-1 */
    int64_t n_right5; /* top-5: fewer than five classes are greater, or equal and in front */
    double error;     /* WINDOWS: mean of (result - input)^2 */
    double seconds;   /* processor time of the runs alone */
};

/* The first n samples, which have labels, by the engine. fn has one parameter, of the dataset's
 * type. Memory of ctx->perm. */
bool evaluate(struct ctx *ctx, struct function *fn, const struct dataset *dataset, int64_t n,
              int n_threads, struct score *out);

/* The same by the C that is generated of the module (after fuse_ops) for this machine, a sample
 * per thread. */
bool evaluate_generated(struct ctx *ctx, struct module *module, const struct dataset *dataset,
                        int64_t n, int n_threads, struct score *out);

/* The part of it that speaks of the first n samples. Borrows; `seconds` is that of all. */
struct score score_head(const struct score *score, int64_t n);

/* What became of a float network's answers. */
struct comparison {
    int64_t n_agree;     /* the same class */
    int64_t n_lost;      /* right, now wrong */
    int64_t n_won;       /* wrong, now right */
    double points;       /* top-1 gained, in percent */
    double points_error; /* the standard error of that: of the mean of paired differences */
};

struct comparison score_compare(const struct score *f32, const struct score *other);

#endif
