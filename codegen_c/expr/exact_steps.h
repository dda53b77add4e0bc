/* exact_steps.h - FP8 values as integers, in units of the format's least step. */
#ifndef CODEGEN_C_EXPR_EXACT_STEPS_H
#define CODEGEN_C_EXPR_EXACT_STEPS_H

#include "codegen_c/core/kernel.h"

/* exact_steps_table: the table in generated C from values of the anchor's input to their integers,
 * in steps of the format. bind_steps sets `key` to it. */
const char *exact_steps_table(struct bind *bind, int input);
void bind_steps(struct bind *bind, const char *key, int input);

/* The function fn(steps, codes, with, n) of generated C: the sum of n products of the integers of
 * w's values with i32 numbers of at most `most`. */
const char *exact_dot(struct bind *bind, const struct minifloat *w, int64_t most);

#endif
