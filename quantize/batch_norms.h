/* batch_norms.h - what a model's batch norms tell of the numbers that they give: in each channel
 * the mean is beta, the standard deviation |gamma|. Batch norms vanish in PIPELINE_PREPARE, but the
 * names of their results survive: so collect before, use after. */
#ifndef QUANTIZE_BATCH_NORMS_H
#define QUANTIZE_BATCH_NORMS_H

#include "relay_ir/ir.h"

struct batch_norm {
    const char *name; /* of the result */
    int axis;
    int64_t n;
    double *mean, *deviation; /* [n] */
};

struct batch_norms; /* opaque */

/* Of main, the batch norms with constant scale and bias. One whose result is scaled again before a
 * product (by another batch norm, say) is left out: passes move that scale in front of it. All
 * memory is of ctx->perm; never NULL. */
struct batch_norms *batch_norms_collect(struct ctx *ctx, const struct module *module);

int batch_norms_count(const struct batch_norms *norms);

/* NULL if there is none. */
const struct batch_norm *batch_norms_find(const struct batch_norms *norms, const char *name);

/* A copy with numbers of its own, in ctx->perm. */
struct batch_norms *batch_norms_copy(struct ctx *ctx, const struct batch_norms *norms);

/* The value of this name, if it is known, has been multiplied by factor[n] per channel. */
void batch_norms_scale(struct batch_norms *norms, const char *name, const double *factor,
                       int64_t n);

#endif
