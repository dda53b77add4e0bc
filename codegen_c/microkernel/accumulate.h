/* accumulate.h - sums and products in C, for floats and integers alike. */
#ifndef CODEGEN_C_MICROKERNEL_ACCUMULATE_H
#define CODEGEN_C_MICROKERNEL_ACCUMULATE_H

#include "codegen_c/core/kernel.h"

/* Sets tacc, the type to accumulate numbers of this type in: the type itself for floats, an
 * unsigned one for integers (which wrap around as the operators do, where signed overflow would be
 * undefined); and `widen`, the cast from the element type to it, empty where there is none. */
void bind_accumulator(struct bind *bind, enum dtype dtype);

/* "sum" back in the element type: "(int8_t)sum". */
const char *accumulated(struct bind *bind, enum dtype dtype, const char *acc);

#endif
