/* exact_steps.h - FP8 values as integers, in units of the format's least step. */
#ifndef CODEGEN_C_EXPR_EXACT_STEPS_H
#define CODEGEN_C_EXPR_EXACT_STEPS_H

#include "codegen_c/core/kernel.h"

/* The table in generated C of what codes of the anchor's input stand for, in steps; and `key` set
 * to it. */
const char *exact_steps_table(struct bind *bind, int input);
void bind_steps(struct bind *bind, const char *key, int input);

/* The function of generated C, fn(steps, codes, with, n), for the sum of n products of the steps of
 * codes of w with numbers of i32, at most `most`. */
const char *exact_dot(struct bind *bind, const struct minifloat *w, int64_t most);

#endif
