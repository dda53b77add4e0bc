/* batch_norms.h - statistics of batch norm results: per channel the mean is beta, the standard
 * deviation |gamma|. PIPELINE_PREPARE removes batch norms but keeps the names of their results:
 * collect before it, use after it. */
#ifndef QUANTIZE_BATCH_NORMS_H
#define QUANTIZE_BATCH_NORMS_H

#include "relay_ir/ir.h"

struct batch_norm {
    const char *name; /* name of the result */
    int axis;
    int64_t n;
    double *mean, *deviation; /* [n] */
};

struct batch_norms; /* opaque */

/* Collects the batch norms of main with constant scale and bias, except those whose result is
 * scaled again before a product (by another batch norm, say), since passes move that scale ahead.
 * In ctx->perm; never NULL. */
struct batch_norms *batch_norms_collect(struct ctx *ctx, const struct module *module);

int batch_norms_count(const struct batch_norms *norms);

/* Root of the mean square of a model's input, from the variance that the batch norm behind its
 * convolution has seen; within a factor of two. 0 = unknown. */
double batch_norms_input(const struct batch_norms *norms, const char *param);

/* By name of the result; NULL if there is none. */
const struct batch_norm *batch_norms_find(const struct batch_norms *norms, const char *name);

/* Deep copy, in ctx->perm. */
struct batch_norms *batch_norms_copy(struct ctx *ctx, const struct batch_norms *norms);

/* Records that the value, if known, was multiplied by factor[n] per channel. */
void batch_norms_scale(struct batch_norms *norms, const char *name, const double *factor,
                       int64_t n);

#endif
