/* result.h - what the caller learns of a compilation: struct codegen_result. */
#ifndef CODEGEN_C_EMIT_RESULT_H
#define CODEGEN_C_EMIT_RESULT_H

#include <stdbool.h>

struct codegen;

/* *codegen->result, of a packed plan, and room for the names of the files. */
void fill_result(struct codegen *codegen);

#endif
