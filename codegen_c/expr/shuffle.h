/* shuffle.h - functions that select elements of two vectors: gcc and clang have different builtins for it. */
#ifndef CODEGEN_C_EXPR_SHUFFLE_H
#define CODEGEN_C_EXPR_SHUFFLE_H

#include "codegen_c/core/kernel.h"

/* Requests a function of two vectors, a and b, and returns its name: the elements with the indices `from`, "0, 2, ...";
 * those of b follow those of a. `what` is its comment. */
const char *bind_shuffle(struct bind *bind, const char *name, const char *what, const char *from);

/* The same for the elements of even, or odd, index. */
const char *bind_half(struct bind *bind, bool odd);

/* The same for the front, or back, halves of every `group` elements, interleaved. */
const char *bind_zip(struct bind *bind, int group, bool back);

#endif
