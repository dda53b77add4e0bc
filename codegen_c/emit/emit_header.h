/* emit_header.h - NAME.h, and the files of the output. */
#ifndef CODEGEN_C_EMIT_EMIT_HEADER_H
#define CODEGEN_C_EMIT_EMIT_HEADER_H

#include "base/file.h"
#include "base/str.h"

struct codegen;

void emit_header(struct codegen *codegen);

/* "int NAME_run(const float x[...], ...)" and the tail behind it. */
void add_prototype(struct codegen *codegen, struct str *out, bool step, const char *tail);

/* Opens an output file and notes it in the result: NAME and the suffix, or a name of its own. */
struct writer *emit_open(struct codegen *codegen, const char *suffix);
struct writer *emit_open_named(struct codegen *codegen, const char *name);

#endif
