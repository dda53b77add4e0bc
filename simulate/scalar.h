/* scalar.h - element-wise operators of f32 as functions: the text of codegen_c/expr/scalar_ops.def,
 * which simulate/scalars.awk makes C of. */
#ifndef SIMULATE_SCALAR_H
#define SIMULATE_SCALAR_H

#include "relay_ir/op.h"

/* Of the operands a and b (0 where there is one), and the attributes alpha and beta. */
typedef float scalar_function(float a, float b, float p, float q);

struct scalar {
    scalar_function *function; /* NULL: the operator has no such text of f32 */
    bool has_attributes;
};

extern const struct scalar scalars_f32[OP_COUNT];

#endif
