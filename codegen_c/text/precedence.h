/* precedence.h - parentheses that say which operator binds first (MISRA C:2012, rule 12.1), and no products with 1 and
 * 0 nor sums with 0, which templates have where a number of theirs is that (rule 2.2). */
#ifndef CODEGEN_C_TEXT_PRECEDENCE_H
#define CODEGEN_C_TEXT_PRECEDENCE_H

#include "codegen_c/text/tokens.h"

/* Puts parentheses around each operand of a binary operator or of ?: that is itself a binary operator of higher
 * precedence: "a * b + c" becomes "(a * b) + c", and "x[0 * N + i]" is "x[i]". What the text means is the same. Macros'
 * bodies are left alone. */
void precedence_show(struct tokens *tokens);

#endif
