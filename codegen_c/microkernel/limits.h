/* limits.h - results that are the anchor's sums, with a bias for each channel, within limits: the
 * usual end of a convolution. Kernels that have their sums in vectors write these straight to y,
 * without the way over the stack that other element-wise nodes take. */
#ifndef CODEGEN_C_MICROKERNEL_LIMITS_H
#define CODEGEN_C_MICROKERNEL_LIMITS_H

#include "codegen_c/core/kernel.h"

struct limits {
    struct value *bias; /* [channels], a constant; NULL = none */
    double low, high;   /* -INFINITY, INFINITY = none; low is no more than high */
};

/* Whether the region has one result, in f32 and channels last, and no other nodes. */
bool region_limits(const struct region *region, struct limits *out);

/* Whether compilers have instructions for the comparisons of vectors that limits are made of: for
 * Helium and RISC-V gcc 12 makes them number by number. */
bool vectors_are_compared(const struct machine *machine);

/* Asks for the macros AT_LEAST, AT_MOST, WITHIN, WHERE_NEGATIVE and KEEP_ORDER. */
void bind_limit_macros(struct bind *bind);

/* Sets bias to its array, and low and high to literals; nothing where there is none. */
void bind_limits(struct bind *bind, const struct limits *limits);

/* A statement that keeps a variable, a vector, within the limits, two more vectors: "WITHIN(v, low,
 * high)"; nothing if there are none. NaN, and what compares equal to a limit, stay as they are. */
const char *limit_text(struct bind *bind, const struct limits *limits, const char *vector);

/* The same of one number: the macros take the bits of a vector apart, but would convert a number.
 */
const char *limit_number_text(struct bind *bind, const struct limits *limits, const char *number);

#endif
