/* emit_variants.h - NAME_run with dims that are its arguments (--vary). */
#ifndef CODEGEN_C_EMIT_EMIT_VARIANTS_H
#define CODEGEN_C_EMIT_EMIT_VARIANTS_H

#include "base/str.h"
#include "codegen_c/core/state.h"

struct cJSON;

/* "f32 [1,time,64]": of an input or output of the interface. */
const char *interface_shape_comment(struct codegen *codegen, bool is_input, int i);

/* "int32_t time" of each symbol, or "time", behind the inputs of NAME_run; their number. */
int add_sizes(struct codegen *codegen, const char **items, bool with_types);

/* NAME.h: the greatest sizes, and the functions that tell dims of outputs. */
void add_size_constants(struct codegen *codegen, struct str *out);
void add_size_functions(struct codegen *codegen, struct str *out);

/* NAME.json, only with --vary: the arguments of NAME_run that are sizes. */
void add_sizes_json(struct codegen *codegen, struct cJSON *root);

/* NAME.c: row_of(), which numbers the combinations of sizes, and the functions of NAME.h. */
void add_size_lookups(struct codegen *codegen, struct str *out);

/* In front of NAME_run: a function for variants that differ in numbers only. */
void add_variants(struct codegen *codegen, struct str *out);

/* Behind the checks of NAME_run: calls the function for the sizes. */
void add_variant_choice(struct codegen *codegen, struct str *out);

#endif
