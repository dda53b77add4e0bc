/* emit_state.h - what the network keeps from one run to the next: struct NAME_state, NAME_reset, and the copies behind
 * the last region of a run. */
#ifndef CODEGEN_C_EMIT_EMIT_STATE_H
#define CODEGEN_C_EMIT_EMIT_STATE_H

#include "base/str.h"
#include "relay_ir/state.h"

struct codegen;

bool has_state(const struct codegen *codegen);

/* Bytes of struct NAME_state, and where state i lies in it. Fields stand by the size of their elements, the greatest
 * first, so that there is no padding between. */
size_t state_bytes(const struct codegen *codegen);
size_t state_offset(const struct codegen *codegen, int i);

/* What the entry demands of its address: see entry_alignment. */
size_t state_alignment(const struct codegen *codegen);

/* "KWS_x" of field "state->x": the C name without the pointer. */
const char *state_field(const struct codegen *codegen, int i);

/* NAME.h: the struct; and the prototype of NAME_reset behind a comment on how both are used. */
void add_state_struct(struct codegen *codegen, struct str *out);
void add_state_functions(struct codegen *codegen, struct str *out);

/* NAME.c: NAME_reset; and the copies of what the regions left in the arena. */
void add_state_reset(struct codegen *codegen, struct str *out);
void add_state_copies(struct codegen *codegen, struct str *out, int indent);

#endif
