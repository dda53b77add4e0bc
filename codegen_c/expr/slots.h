/* slots.h - text of a variant in which numbers are marked, so that text of several variants becomes one: where their
 * numbers differ, a formula of the sizes, or, where none is found, a table by row. */
#ifndef CODEGEN_C_EXPR_SLOTS_H
#define CODEGEN_C_EXPR_SLOTS_H

#include "base/str.h"
#include "codegen_c/core/state.h"

enum slot {
    SLOT_OPERAND = 1, /* of + */
    SLOT_WHOLE,       /* an initialiser, or what is returned */
    SLOT_COMMENT
};

/* Stands for "static ", if all numbers up to the next ";" are constants. */
#define SLOT_STATIC "\6"

/* A number of the text; without variants just that. */
const char *slot_text(struct codegen *codegen, enum slot slot, int64_t number);

/* shape_comment, with slots for dims. */
const char *slot_shape_comment(struct codegen *codegen, const struct type *type);

struct slots {
    const char *skeleton; /* the text without the numbers */
    int n;
    int64_t *numbers;
};

struct slots slots_of(struct arena *arena, const char *text);

/* The text, of one of n variants of[i] with equal skeletons, for all of them. Tables that it reads, by the variable
 * `row`, are added to `tables`; without, ".." takes their place. */
const char *slots_resolve(struct codegen *codegen, const char *text, int n, const int *of,
                          const struct slots *slots, struct str *tables);

/* The row of a variant: rows ascend with the sizes. */
int variant_row(const struct codegen *codegen, int variant);

#endif
