/* guard.h - compile --guard: what no region may touch while another one runs is watched.
 *
 * Blocks of the arena have red zones between them. Before a region runs, all that is not alive is
 * filled with 0xFF (NaN, as floats), so that nobody can live on what died, and made inaccessible
 * under AddressSanitizer, or under valgrind where NAME_GUARD_VALGRIND is defined; after it the
 * pattern must still be there. NAME_run returns NAME_OVERRUN where it is not, and NAME_overrun says
 * who wrote where. An array that overlaps another one, or the arena, is NAME_OVERLAP: without
 * --guard that is not noticed. */
#ifndef CODEGEN_C_EMIT_GUARD_H
#define CODEGEN_C_EMIT_GUARD_H

#include "codegen_c/core/state.h"

void add_guard_header(struct codegen *codegen, struct str *out); /* NAME.h: NAME_overrun */
void add_guard(struct codegen *codegen, struct str *out); /* NAME.c: the table and the checks */

/* In front of all regions: arrays and pools that overlap are refused. */
void add_guard_entry(struct codegen *codegen, struct str *out);

/* Around the call of a region. */
void add_guard_before(struct codegen *codegen, struct str *out, const char *region, int indent);
void add_guard_after(struct codegen *codegen, struct str *out, const char *region, int indent);

#endif
