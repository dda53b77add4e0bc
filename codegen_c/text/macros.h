/* macros.h - macros of generated C, written out.
 *
 * Helpers are written for all CPUs: lists of macros repeat a statement for each vector of a tile, and macros that are
 * empty on some CPUs stand where others need a word. For a known CPU, whose conditions are resolved
 * (machine/conditions.h), a reader should see the statements. What is defined under a condition, or read by one, stays,
 * with what it reads; a macro that is a number becomes an enum. */
#ifndef CODEGEN_C_TEXT_MACROS_H
#define CODEGEN_C_TEXT_MACROS_H

#include "base/arena.h"

/* Rewrites the texts, parts of one file in order. The new texts are in the arena. */
void macros_write_out(struct arena *arena, const char **texts, int n);

/* The text with these macros ("#define NAME(a) ...", a line each) in place of their names, and no other ones. */
const char *macros_fill(struct arena *arena, const char *definitions, const char *text);

#endif
