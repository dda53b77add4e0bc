/* layout.h - generated C as reviewers want it: braces around every body, a declaration and a statement a line, lines
 * of at most 100 columns. Templates and binders need not care: they may write for loops above each other, and
 * `float s0 = 0, s1 = 0;`. Nothing that a compiler sees changes but braces. */
#ifndef CODEGEN_C_TEXT_LAYOUT_H
#define CODEGEN_C_TEXT_LAYOUT_H

#include "base/arena.h"

/* The text in that form. A text that is no whole C is returned as it is. */
const char *layout(struct arena *arena, const char *text);

#endif
