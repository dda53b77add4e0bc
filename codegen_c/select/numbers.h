/* numbers.h - from tokens (core/number.h) in a function's keys to variables and arrays. */
#ifndef CODEGEN_C_SELECT_NUMBERS_H
#define CODEGEN_C_SELECT_NUMBERS_H

#include "codegen_c/core/kernel.h"

struct embedded_file;

/* A variable of a region's function: element `index` of a constant array. */
struct number_variable {
    const char *name;
    const char *type;  /* "int32_t" */
    const char *array; /* C expression of the array */
    int index;
};

struct number_variables {
    const struct number_variable *list;
    int n;
};

/* Replaces the tokens of the keys that the template writes by names of variables, in the order of
 * the keys, and makes the arrays. The names are none of the identifiers in the template. */
struct number_variables numbers_settle(struct bind *bind, const struct embedded_file *template);

/* The text of a function with declarations of the variables that it uses, at the beginning of the
 * body of `function`. */
const char *numbers_declare(struct arena *arena, const char *text, const char *function,
                            const struct number_variables *variables);

#endif
