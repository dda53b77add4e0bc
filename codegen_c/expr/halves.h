/* halves.h - constants of f16 as arrays of the generated C.
 *
 * The bits of a half, moved to where a float has them, are a number 2^112 times too small, which
 * one multiplication makes up: but subnormal halves are subnormal floats on the way, which
 * processors flush, or take their time for. So a constant whose numbers are all below 64 stands in
 * its array multiplied by 2^10, exactly: "raised". Then none of its codes is subnormal. Others, and
 * all where the machine converts halves by itself, stand as they are. */
#ifndef CODEGEN_C_EXPR_HALVES_H
#define CODEGEN_C_EXPR_HALVES_H

#include "codegen_c/core/kernel.h"

/* Whether the array of a constant is raised in C for this machine; false for what is no f16. */
bool halves_are_raised(const struct machine *machine, const struct value *weight);

/* The constant as it stands in its array: itself, or a copy with the payload raised. */
struct value halves_stored(struct bind *bind, const struct value *weight);

/* What the comment at its array says: `layout`, and that it is raised. */
const char *halves_layout(struct bind *bind, const struct value *weight, const char *layout);

/* Asks for the function from LANES codes anywhere in an array to a vector of their numbers:
 * f16_numbers(codes); or of raised ones: raised_f16_numbers(codes) * F16_TIMES, of which F16_TIMES
 * may wait. And the function, or macro, that does the same with codes in the upper halves of
 * words, where the processor does not convert them and there are vectors. */
const char *halves_numbers(struct bind *bind, bool raised);
const char *halves_of_words(struct bind *bind, bool raised);

/* Asks for the function from one raised code to its number. */
const char *halves_raised_function(struct bind *bind);

#endif
