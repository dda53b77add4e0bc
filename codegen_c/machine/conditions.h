/* conditions.h - resolves preprocessor conditions that --target decides.
 *
 * Helpers have variants for every CPU, chosen by the compiler (#if defined __AVX2__ ...). With
 * --target a reader should see only those that this CPU could take: macros of other architectures
 * are undefined, LANES is a number. Conditions that are decided go, with the text that they
 * exclude; others lose the terms that are decided. Behind a branch that is true with the CPU's own
 * flags, those for lesser CPUs go, too: without the flags what is left is plain C. */
#ifndef CODEGEN_C_MACHINE_CONDITIONS_H
#define CODEGEN_C_MACHINE_CONDITIONS_H

#include "base/arena.h"
#include "codegen_c/machine/machine.h"

/* What is known about a macro. */
struct macro_fact {
    enum { MACRO_UNKNOWN, MACRO_UNDEFINED, MACRO_DEFINED } is;
    bool has_number; /* if it is defined */
    long number;
};

typedef struct macro_fact macro_lookup(void *user, const char *name);

/* Reduces a condition: 0, 1, or CONDITION_OPEN with *reduced its text without the decided terms
 * (`text` itself if no term is decided, or if it is more than && || ! defined and comparisons of a
 * macro or a number with a number). */
enum { CONDITION_OPEN = -1 };
int condition_reduce(struct arena *arena, const char *text, macro_lookup *lookup, void *user,
                     const char **reduced);

/* Rewrites the texts, parts of one file in order, without what `machine` excludes. A macro that
 * only these texts define, and none of them any more, counts as undefined; one that they define
 * once, unconditionally, as a number counts as that number. CPU "generic" changes nothing. The new
 * texts are in the arena. */
void conditions_resolve(struct arena *arena, const struct machine *machine, const char **texts,
                        int n);

#endif
