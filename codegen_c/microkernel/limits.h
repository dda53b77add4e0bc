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

/* Requests the macros AT_LEAST, AT_MOST, WITHIN, WHERE_NEGATIVE and KEEP_ORDER. */
void bind_limit_macros(struct bind *bind);

/* Sets `bias` to its array, and `low` and `high` to literals; each only if there is one. */
void bind_limits(struct bind *bind, const struct limits *limits);

/* A statement that clamps the variable `vector` to two vectors of limits: "WITHIN(v, low, high)";
 * "" without limits. NaN, and values equal to a limit, stay unchanged. */
const char *limit_text(struct bind *bind, const struct limits *limits, const char *vector);

/* The same for a scalar variable: the macros reinterpret the bits of a vector, but would convert a
 * scalar. */
const char *limit_number_text(struct bind *bind, const struct limits *limits, const char *number);

#endif
