/* emit_entry.h - NAME_run and NAME_step: their arrays, and the arena's pools. */
#ifndef CODEGEN_C_EMIT_EMIT_ENTRY_H
#define CODEGEN_C_EMIT_EMIT_ENTRY_H

#include "base/str.h"
#include "relay_ir/ir.h"

struct codegen;

/* How the entry calls a value: the name of a parameter, of a pointer, or of an array. */
const char *entry_name(const struct codegen *codegen, const struct value *value);

/* Whether NAME_run has a pointer to the pool. */
bool pool_has_arena(const struct codegen *codegen, int pool);

/* The arrays that the entry takes: inputs, then outputs; none where they are in the arena. */
int entry_arrays(const struct codegen *codegen);
const struct value *entry_array(const struct codegen *codegen, int i, const char **c_name);

/* What the entry demands of an array's address: its type's bytes, but 4 where these are 8, which is
 * as much as some 32-bit machines give. */
size_t entry_alignment(const struct value *value);

/* The name of the function of NAME.h that says where: "kws_input_data". */
const char *io_accessor(struct codegen *codegen, const char *c_name, bool is_input);

/* Where that is: "arena_sram" and bytes. */
const char *io_arena(struct codegen *codegen, const struct value *value);
size_t io_offset(const struct codegen *codegen, const struct value *value);

/* The pointers into the arena of a variant (relay_ir/variants.h), and to it; `all`: also those that loops declare
 * (emit_loops.h). */
void add_pointers(struct codegen *codegen, struct str *out, int variant, bool all);

/* NAME_run and NAME_step. */
void add_entry(struct codegen *codegen, struct str *out);

/* "&base[4096]", "base": where this offset of the pool is. */
const char *pool_address(struct codegen *codegen, int pool, size_t offset);

#endif
