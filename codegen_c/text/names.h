/* names.h - identifiers of one scope of the generated code, each handed out once. */
#ifndef CODEGEN_C_TEXT_NAMES_H
#define CODEGEN_C_TEXT_NAMES_H

#include "base/map.h"

struct names {
    struct arena *arena;
    struct map taken;
    struct map next; /* name -> int *: the suffixes below are taken */
};

void names_init(struct names *names, struct arena *arena);

/* Takes a name that the emitter writes itself ("arena"). */
void names_reserve(struct names *names, const char *name);

/* `wanted` (an identifier), or wanted_2, wanted_3 … when it is taken. */
const char *names_unique(struct names *names, const char *wanted);

/* Text of the model for a comment: printable ASCII without anything that could end or continue the
 * comment, or start another ("*" and "/" side by side, "//", "??/", backslashes); cut at `limit`.
 */
const char *comment_safe(struct arena *arena, const char *text, size_t limit);

/* "KWS" of "kws". */
const char *upper_case(struct arena *arena, const char *name);

#endif
