/* lanes.h - integers by vectors in generated C: i32x16, i32x8, i32x4 and their functions
 * (templates/helpers/lanes_i32.c.tmpl). */
#ifndef CODEGEN_C_EXPR_LANES_H
#define CODEGEN_C_EXPR_LANES_H

#include "codegen_c/core/kernel.h"

/* The text of an element-wise operator on quantised numbers (scalar_qnn.h) for n lanes: without the
 * cast of its result, which the lanes hold as well, and with the helpers for vectors; of a result
 * that is_stored without its clamp, since stores saturate. from_0: what is requantized is clamped
 * where it is 0 or less. */
const char *lanes_text(struct arena *arena, const char *text, int n, bool is_stored, bool from_0);

/* Pastes the type i32xN and its functions into the file, once; those, too, that only some texts
 * need. */
void bind_lanes(struct bind *bind, int n);
void bind_lanes_of(struct bind *bind, int n, const char *text);

#endif
