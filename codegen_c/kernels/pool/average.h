/* average.h - shared by averages and sums of quantised values and of integer-accumulated FP8; the
 * arithmetic is that of relay_ir/ops/qnn_reduce.c. */
#ifndef CODEGEN_C_KERNELS_POOL_AVERAGE_H
#define CODEGEN_C_KERNELS_POOL_AVERAGE_H

#include "codegen_c/core/kernel.h"
#include "relay_ir/ops/qnn.h"

/* For accepts_: whether inputs 1 to 4 of the anchor (scales and zero points) are constant, and the
 * sum of n elements of input 0 less the zero point fits 32 bits (FP8: 64). */
bool takes_qnn_scales(const struct region *region, int64_t n, const char **why);

/* The scales, if takes_qnn_scales. */
struct qnn_scales known_qnn_scales(const struct node *node);

/* The factor of a sum divided by n: of quantised values as in qnn.h, of FP8 as in exact.h. */
struct fixed_point average_factor(const struct node *node, int64_t n);

/* Sets `exact` for FP8, and then `x_steps`. Returns the type of a sum of n elements. */
const char *bind_average_sum(struct bind *bind, int64_t n);

/* The average as an expression of y's type, from the sum of elements less the zero point, if
 * qnn_average_is_plain: divided by n, or by the C expression `many` if it is not NULL. */
const char *plain_average(struct bind *bind, const char *sum, int64_t n, const char *many);

/* Such a sum times a factor; rescaled_sum_by: multiplier and shift are C expressions, e.g. of a
 * table. */
const char *rescaled_sum(struct bind *bind, const char *sum, struct fixed_point factor);
const char *rescaled_sum_by(struct bind *bind, const char *sum, const char *multiplier,
                            const char *shift);

#endif
