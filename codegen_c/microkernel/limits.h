/* limits.h - the epilogue of bias and clamp, the usual one of a convolution. Kernels with sums
 * in vectors apply it in registers and store to y; other epilogues go through an array on the
 * stack. */
#ifndef CODEGEN_C_MICROKERNEL_LIMITS_H
#define CODEGEN_C_MICROKERNEL_LIMITS_H

#include "codegen_c/core/kernel.h"

struct limits {
    struct value *bias; /* [channels], a constant; NULL = none */
    double low, high;   /* -INFINITY, INFINITY = none; low <= high */
};

/* Whether the region's epilogue is bias and clamp only, with one f32 result, channels last. */
bool region_limits(const struct region *region, struct limits *out);

/* Whether compilers vectorise the comparisons that a clamp needs. For Helium and RISC-V, gcc 12
 * does them lane by lane. */
bool vectors_are_compared(const struct machine *machine);

/* Sets `bias` to its array, and `low` and `high` to literals; each only if there is one. */
void bind_limits(struct bind *bind, const struct limits *limits);

/* `v` of the vector type (or float), clamped to the variables low and high: "at_most(at_least(v, low), high)"; `v`
 * itself without limits. NaN, and values equal to a limit, stay unchanged. */
const char *limit_text(struct bind *bind, const struct limits *limits, const char *type,
                       const char *v);

#endif
