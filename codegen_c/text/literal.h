/* literal.h - numbers as C literals. */
#ifndef CODEGEN_C_TEXT_LITERAL_H
#define CODEGEN_C_TEXT_LITERAL_H

#include "relay_ir/ir.h"

/* Element i as a C literal (see bind_literal); true in *needs_math when it uses <math.h>. */
const char *literal_of_element(struct arena *arena, enum dtype dtype, const void *data, int64_t i,
                               bool *needs_math);
const char *literal_of_number(struct arena *arena, enum dtype dtype, double number,
                              bool *needs_math);

/* A finite float in decimal, exact as well: C++ before C++17 has no hex floats. */
const char *literal_decimal_f32(struct arena *arena, float number);

#endif
