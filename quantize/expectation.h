/* expectation.h - distributions of a graph's values without data: a batch norm's statistics are
 * propagated per channel up to products, whose results need batch norms of their own.
 *
 * Clamps (relu, clip, minimum ...) are exact; other unary functions are integrated and their result
 * taken as normal; addends count as independent. Averages keep the mean. Padding is neglected.
 * Maxima over a window are unknown. */
#ifndef QUANTIZE_EXPECTATION_H
#define QUANTIZE_EXPECTATION_H

#include "quantize/batch_norms.h"
#include "quantize/clipped_normal.h"

struct expectation {
    int axis; /* channel axis */
    int64_t n;
    struct clipped_normal *channels; /* [n] */
};

/* By value id of fn, which is numbered: NULL = unknown. In the arena. */
const struct expectation **expectations(struct ctx *ctx, struct arena *arena, struct function *fn,
                                        const struct batch_norms *norms);

/* The same, and through products without a batch norm: for ranges. The mean is that of the sum, the
 * variance that of independent channels and positions. */
const struct expectation **expectations_through(struct ctx *ctx, struct arena *arena,
                                                struct function *fn,
                                                const struct batch_norms *norms);

/* expectation_product.c: of the results of a product, from its data. False if its weights are
 * computed. */
bool expectation_product(struct ctx *ctx, const struct node *product, const struct expectation *x,
                         struct expectation *y, struct arena *arena);

/* expectation_unary.c: distribution of f(x) by integration, as a normal. False if the operator
 * cannot be evaluated. */
bool expectation_unary(struct ctx *ctx, const struct node *node, const struct expectation *x,
                       struct clipped_normal *y);

#endif
