/* emit_helpers.h - the functions that regions call, in front of them in NAME.c. */
#ifndef CODEGEN_C_EMIT_EMIT_HELPERS_H
#define CODEGEN_C_EMIT_EMIT_HELPERS_H

#include <stdbool.h>

struct codegen;

/* Helper i of codegen->helpers as a part of NAME.c, with a line that says where it is from. */
const char *helper_text(struct codegen *codegen, int i);

/* texts [n] are what stands in front of the helpers, their texts, and what may call them. A helper that is one function, which
 * nothing behind it calls, becomes "". */
void helpers_drop_unused(struct codegen *codegen, const char **texts, int n);

/* Whether the identifier stands in the text. */
bool has_word(const char *text, const char *word);

#endif
