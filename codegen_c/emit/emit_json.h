/* emit_json.h - NAME.json. */
#ifndef CODEGEN_C_EMIT_EMIT_JSON_H
#define CODEGEN_C_EMIT_EMIT_JSON_H

#include <stdbool.h>

struct codegen;

/* Last: it lists the other files. */
void emit_json(struct codegen *codegen);

#endif
