/* conditions.h - the preprocessor's conditions that are known when the C is written for one
 * machine.
 *
 * Helpers have texts for every processor, one of which the compiler chooses (#if defined __AVX2__
 * ...). With
 * --target a reader has to see only those that the machine could take: macros of other
 * architectures are not defined, LANES is a number. Conditions that are known are gone with the
 * text that they leave out, others lose the terms that are known. What remains means the same on
 * that architecture; on another one it is C without that one's instructions. */
#ifndef CODEGEN_C_MACHINE_CONDITIONS_H
#define CODEGEN_C_MACHINE_CONDITIONS_H

#include "base/arena.h"
#include "codegen_c/machine/machine.h"

/* What is known of a macro. */
struct macro_fact {
    enum { MACRO_UNKNOWN, MACRO_UNDEFINED, MACRO_DEFINED } is;
    bool has_number; /* of one that is defined */
    long number;
};

typedef struct macro_fact macro_lookup(void *user, const char *name);

/* A condition with what is known put in: 0, 1, or CONDITION_OPEN, and then its text without the
 * known terms, which is `text` itself where no term was known (and where the condition is of a form
 * that is not looked into: && || ! defined, comparisons of a macro or a number with a number). */
enum { CONDITION_OPEN = -1 };
int condition_reduce(struct arena *arena, const char *text, macro_lookup *lookup, void *user,
                     const char **reduced);

/* The texts, parts of one file in its order, without what `machine` leaves out. A macro that only
 * these texts define, and none of them any more, is not defined; one that they define once, under
 * no condition, as a number is that number. The machine "generic" leaves everything as it is. The
 * new texts are the arena's. */
void conditions_resolve(struct arena *arena, const struct machine *machine, const char **texts,
                        int n);

#endif
