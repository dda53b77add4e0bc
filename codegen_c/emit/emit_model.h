/* emit_model.h - NAME.c, and what other C files of the output share with it. */
#ifndef CODEGEN_C_EMIT_EMIT_MODEL_H
#define CODEGEN_C_EMIT_EMIT_MODEL_H

#include "base/map.h"
#include "base/str.h"

struct codegen;

/* The banner's lines about where the file comes from. */
void add_banner(struct codegen *codegen, struct str *out, const char *suffix);

void emit_model(struct codegen *codegen);

/* The includes of a file that reads arrays: system headers (their names are keys of the map), and
 * NAME_weights.h where it needs that. */
void add_includes(struct codegen *codegen, struct str *out, const struct map *headers, int reader);

/* The value that a block overlaps (struct block, `before`), by its name in C. */
const char *reached_name(struct codegen *codegen, int block);

#endif
