/* lanes.h - integer vectors in generated C: i32x16, i32x8, i32x4 and their functions
 * (templates/helpers/lanes_i32.c.tmpl). */
#ifndef CODEGEN_C_EXPR_LANES_H
#define CODEGEN_C_EXPR_LANES_H

#include "codegen_c/core/kernel.h"

/* The text of an element-wise operator on quantised values (scalar_qnn.h) for n lanes: with vector
 * helpers, and without the cast of its result, which the lanes hold. is_stored: without the clamp
 * too, as stores saturate. from_0: sums are clamped at 0 before they are requantised. */
const char *lanes_text(struct arena *arena, const char *text, int n, bool is_stored, bool from_0);

/* Requests the type i32xN and its functions; bind_lanes_of: also those that only this text
 * needs. */
void bind_lanes(struct bind *bind, int n);
void bind_lanes_of(struct bind *bind, int n, const char *text);

#endif
