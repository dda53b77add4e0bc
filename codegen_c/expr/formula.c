#include "codegen_c/expr/formula.h"

#include <inttypes.h>

#include "base/str.h"
#include "relay_ir/variants.h"

/* Divisors that are tried: strides, and products of a few. */
enum { MOST_DIVISOR = 64 };

static int64_t argument(const struct variants *variants, int of, int variant)
{
    const int64_t *values = variants->at[variant].values;
    int64_t product = 1;

    if (of < variants->n_symbols)
        return values[of];
    for (int s = 0; s < variants->n_symbols; s++)
        product *= values[s];
    return product;
}

static bool fits_int(int64_t number)
{
    return number >= -INT32_MAX && number <= INT32_MAX;
}

static bool holds(const struct variants *variants, int n, const int *of, const int64_t *numbers,
                  const struct formula *formula)
{
    for (int i = 0; i < n; i++) {
        const int64_t x = argument(variants, formula->of, of[i]);

        if (!fits_int(x) || !fits_int(formula->a * x) || !fits_int(formula->a * x + formula->b) ||
            (formula->a * x + formula->b) / formula->c * formula->m != numbers[i])
            return false;
    }
    return true;
}

/* With this slope and divisor: the largest b that no number is too small for. */
static bool find_offset(const struct variants *variants, int n, const int *of,
                        const int64_t *numbers, struct formula *formula)
{
    int64_t least = INT64_MIN, most = INT64_MAX;

    for (int i = 0; i < n; i++) {
        const int64_t ax = formula->a * argument(variants, formula->of, of[i]);
        const int64_t low = formula->c * (numbers[i] / formula->m) - ax,
                      high = low + formula->c - 1;

        least = low > least ? low : least;
        most = high < most ? high : most;
    }
    formula->b = least <= 0 && most >= 0 ? 0 : most;
    return least <= most && holds(variants, n, of, numbers, formula);
}

/* The variants with the least and the greatest argument. */
static void find_ends(const struct variants *variants, int n, const int *of, int argument_of,
                      int ends[2])
{
    ends[0] = ends[1] = 0;
    for (int i = 1; i < n; i++) {
        const int64_t x = argument(variants, argument_of, of[i]);

        ends[0] = x < argument(variants, argument_of, of[ends[0]]) ? i : ends[0];
        ends[1] = x > argument(variants, argument_of, of[ends[1]]) ? i : ends[1];
    }
}

static bool find_of(const struct variants *variants, int n, const int *of, const int64_t *numbers,
                    struct formula *out)
{
    int ends[2];
    int64_t run, rise;

    find_ends(variants, n, of, out->of, ends);
    run = argument(variants, out->of, of[ends[1]]) - argument(variants, out->of, of[ends[0]]);
    rise = (numbers[ends[1]] - numbers[ends[0]]) / out->m;
    if (run == 0)
        return false;
    for (out->c = 1; out->c <= MOST_DIVISOR; out->c++) {
        const int64_t a = out->c * rise / run;

        for (out->a = a - 1; out->a <= a + 1; out->a++)
            if (out->a && find_offset(variants, n, of, numbers, out))
                return true;
    }
    return false;
}

/* Of all numbers; 1 if they are 0. */
static int64_t common_divisor(int n, const int64_t *numbers)
{
    int64_t divisor = 0;

    for (int i = 0; i < n; i++)
        for (int64_t a = numbers[i] < 0 ? -numbers[i] : numbers[i]; a;) {
            const int64_t rest = divisor % a;

            divisor = a;
            a = rest;
        }
    return divisor ? divisor : 1;
}

static bool find_multiple(const struct variants *variants, int n, const int *of,
                          const int64_t *numbers, struct formula *out)
{
    for (out->of = 0; out->of <= variants->n_symbols; out->of++)
        if ((out->of < variants->n_symbols || variants->n_symbols > 1) &&
            find_of(variants, n, of, numbers, out))
            return true;
    return false;
}

bool formula_find(const struct variants *variants, int n, const int *of, const int64_t *numbers,
                  struct formula *out)
{
    const int64_t divisor = common_divisor(n, numbers);

    for (int i = 0; i < n; i++)
        if (!fits_int(numbers[i]))
            return false;
    out->m = 1;
    if (find_multiple(variants, n, of, numbers, out))
        return true;
    out->m = divisor;
    return divisor > 1 && find_multiple(variants, n, of, numbers, out);
}

bool formula_is_product(const struct formula *formula)
{
    return formula->b == 0 && formula->a > 0 && formula->c == 1;
}

/* "3 * time", "time * batch" */
static const char *product_text(struct arena *arena, const struct variants *variants,
                                const struct formula *formula)
{
    const int64_t a = formula->a < 0 ? -formula->a : formula->a;
    struct str out = { .arena = arena };

    if (a != 1)
        str_printf(&out, "%" PRId64, a);
    for (int s = 0; s < variants->n_symbols; s++)
        if (formula->of == s || formula->of == variants->n_symbols)
            str_printf(&out, "%s%s", out.n ? " * " : "", variants->symbols[s].c_name);
    return str_text(&out);
}

const char *formula_text(struct arena *arena, const struct variants *variants,
                         const struct formula *formula)
{
    const char *product = product_text(arena, variants, formula);
    const bool divided = formula->c != 1;
    const bool grouped = (divided || formula->m != 1) && (formula->a != 1 || formula->b != 0);
    struct str out = { .arena = arena };

    str_add(&out, grouped ? "(" : "");
    if (formula->a < 0)
        str_printf(&out, "%" PRId64 " - %s", formula->b, product);
    else if (formula->b)
        str_printf(&out, "%s %c %" PRId64, product, formula->b < 0 ? '-' : '+',
                   formula->b < 0 ? -formula->b : formula->b);
    else
        str_add(&out, product);
    str_add(&out, grouped ? ")" : "");
    if (divided)
        str_printf(&out, " / %" PRId64, formula->c);
    if (formula->m != 1)
        str_printf(&out, " * %" PRId64, formula->m);
    return str_text(&out);
}
