/* scalars.h - vectors of one lane, written as floats.
 *
 * Helpers are written for vectors: a vector_f32 is loaded as *(const vector_f32 *)&w[0] and begins as { 0 }. On a CPU
 * without vectors that is w[0] and 0.0f. */
#ifndef CODEGEN_C_TEXT_SCALARS_H
#define CODEGEN_C_TEXT_SCALARS_H

#include "base/arena.h"

/* Rewrites the texts, parts of one file for a scalar CPU whose conditions are resolved (machine/conditions.h). The type
 * itself stays, for emit/emit_helpers.h to drop where nothing names it. The new texts are in the arena. */
void scalars_write_out(struct arena *arena, const char **texts, int n);

#endif
