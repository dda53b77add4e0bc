/* identity.h - checksums by which the files of one compilation know each other. */
#ifndef CODEGEN_C_EMIT_IDENTITY_H
#define CODEGEN_C_EMIT_IDENTITY_H

#include "base/str.h"

struct codegen;

/* codegen->code_id and data_id. `code` is NAME.c without its banner and constants. A network that
 * was retrained has another data_id; its code, and so the code_id, may be the same. */
void find_identity(struct codegen *codegen, const char *const code[], int n_code);

/* "#if KWS_CODE_ID != 0x..." and the error, for the file NAME and suffix, behind its includes. */
void add_code_check(struct codegen *codegen, struct str *out, const char *suffix);
void add_data_check(struct codegen *codegen, struct str *out, const char *suffix);

#endif
