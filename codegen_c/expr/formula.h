/* formula.h - a number that depends on the sizes given at run time, as C: "(time + 3) / 4". */
#ifndef CODEGEN_C_EXPR_FORMULA_H
#define CODEGEN_C_EXPR_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct variants;

/* (a * of + b) / c * m, as C computes it; `of` is a symbol, or, n_symbols, the product of all. */
struct formula {
    int of;
    int64_t a, b, c, m;
};

/* Finds one that gives numbers[i] for each of the n variants of[i]: each is tried. False: there is none, or it might
 * overflow. */
bool formula_find(const struct variants *variants, int n, const int *of, const int64_t *numbers,
                  struct formula *out);

const char *formula_text(struct arena *arena, const struct variants *variants,
                         const struct formula *formula);

/* Whether the text is an operand of + as it stands. */
bool formula_is_product(const struct formula *formula);

#endif
