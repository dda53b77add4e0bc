/* average.h - what the kernels of averages and sums of quantised numbers, and of small floats in
 * integers, share; their arithmetic is that of relay_ir/ops/qnn_reduce.c. */
#ifndef CODEGEN_C_KERNELS_POOL_AVERAGE_H
#define CODEGEN_C_KERNELS_POOL_AVERAGE_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/qnn.h"

/* For accepts_: whether inputs 1 to 4 of the anchor are known, and a sum of n elements of input 0,
 * or of their distances from the zero point, has 32 bits (of steps of small floats: 64). */
bool takes_qnn_scales(const struct region *region, int64_t n, const char **why);

/* Where that is so. */
struct qnn_scales known_qnn_scales(const struct node *node);

/* The factor of a sum that is divided by n: of codes as qnn.h has it, of small floats, whose steps
 * are summed, as exact.h has it. */
struct fixed_point average_factor(const struct node *node, int64_t n);

/* Sets "exact", of small floats, and then "x_steps"; the type of a sum of n elements. */
const char *bind_average_sum(struct bind *bind, int64_t n);

/* The average as an expression of y's type, of a sum of distances from the zero point, where
 * qnn_average_is_plain: over n, or over the C expression `many` where it is not NULL. */
const char *plain_average(struct bind *bind, const char *sum, int64_t n, const char *many);

/* Such a sum times a factor, which may be one of tables
 * (multiplier and shift as C expressions). */
const char *rescaled_sum(struct bind *bind, const char *sum, struct fixed_point factor);
const char *rescaled_sum_by(struct bind *bind, const char *sum, const char *multiplier,
                            const char *shift);

#endif
