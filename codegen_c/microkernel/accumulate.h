/* accumulate.h - accumulator types of generated C, for floats and integers. */
#ifndef CODEGEN_C_MICROKERNEL_ACCUMULATE_H
#define CODEGEN_C_MICROKERNEL_ACCUMULATE_H

#include "codegen_c/core/kernel.h"

/* Sets `tacc`, the accumulator type for elements of this type: the type itself for floats, an
 * unsigned one for integers, which wrap as the operators do (signed overflow is undefined in C).
 * Sets `widen` to the cast from the element type to it; empty if there is none. */
void bind_accumulator(struct bind *bind, enum dtype dtype);

/* The accumulator converted back to the element type: "(int8_t)sum". */
const char *accumulated(struct bind *bind, enum dtype dtype, const char *acc);

#endif
