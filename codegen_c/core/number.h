/* number.h - numbers that come from training: zero points, scales, multipliers, shifts.
 *
 * They are no literals of the code but elements of constant arrays beside the weights, so that the
 * code of a network that is trained again is the same. Binders write a token; when a function is
 * configured, its tokens become names of variables, and their numbers arrays (select/numbers.h). */
#ifndef CODEGEN_C_CORE_NUMBER_H
#define CODEGEN_C_CORE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

enum number_kind { NUMBER_I32, NUMBER_F32, NUMBER_U64, NUMBER_KINDS };

/* A C expression for the number, without operators around; `of` and `role` ("y_zero", the stem of
 * its variable) tell it from others. */
const char *number_i32(struct arena *arena, const void *of, const char *role, int64_t number);
const char *number_f32(struct arena *arena, const void *of, const char *role, float number);
const char *number_u64(struct arena *arena, const void *of, const char *role, uint64_t number);

/* "x + y_zero", "x - x_zero": also of a number that is 0 today. */
const char *plus_number(struct arena *arena, const char *x, const void *of, const char *role,
                        int64_t number);
const char *minus_number(struct arena *arena, const char *x, const void *of, const char *role,
                         int64_t number);

/* A token in a text. */
struct number {
    enum number_kind kind;
    uint64_t bits;
    uint64_t of;
    const char *role; /* in the text, n_role characters */
    int n_role;
};

/* The first token in the text, and its length; NULL = there is none. */
const char *number_find(const char *text, struct number *number, int *length);

/* The text with a literal for each token. */
const char *numbers_as_literals(struct arena *arena, const char *text);

#endif
