/* linkage.h - helper functions, which are static in NAME.c, for a file and a header that several networks share. */
#ifndef CODEGEN_C_TEXT_LINKAGE_H
#define CODEGEN_C_TEXT_LINKAGE_H

#include "base/map.h"
#include "base/str.h"

/* If the text is only functions that are static, not inline, and have loops, so that a call costs little: appends them
 * without `static`, their declarations to another text, adds their names to the map, and returns true. Otherwise
 * nothing happens. */
bool linkage_split(struct arena *arena, const char *text, struct str *definitions,
                   struct str *declarations, struct map *names);

/* The text with `word` behind the `static` of each function that is not inline. */
const char *linkage_mark(struct arena *arena, const char *text, const char *word);

/* The text with `prefix` in front of each of the words, outside of comments and strings. */
const char *linkage_rename(struct arena *arena, const char *text, const struct map *words,
                           const char *prefix);

#endif
