/* expression_eval.c - the value of an expression in a scope.
 *
 * method   a walk over the tree. What depends on an absent name is marked on the way up
 *          (evaluation.absent) until a comparison, or another place of truth, takes the mark away:
 *          there it counts as true. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "partition/expression_tree.h"

static bool fail(struct evaluation *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct evaluation *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    e->why = arena_vprintf(e->arena, format, args);
    va_end(args);
    return false;
}

static const char *part_text(struct evaluation *e, const struct expression *part)
{
    return expression_part(part, e->arena);
}

static bool give_int(struct term *out, int64_t integer)
{
    *out = (struct term){ .kind = TERM_INT, .integer = integer };
    return true;
}

static bool give_real(struct evaluation *e, const struct expression *part, struct term *out,
                      double real)
{
    *out = (struct term){ .kind = TERM_REAL, .real = real };
    return isfinite(real) || fail(e, "%s is not a finite number", part_text(e, part));
}

static double as_real(const struct term *term)
{
    return term->kind == TERM_INT ? (double)term->integer : term->real;
}

static const char *kind_text(const struct term *term)
{
    return term->kind == TERM_TEXT ? "text" : term->kind == TERM_INTS ? "a list" : "a number";
}

/* A number, 0 where a name is absent. */
static bool number(struct evaluation *e, const struct expression *part, struct term *out)
{
    if (!evaluation_run(e, part, out))
        return false;
    if (out->kind == TERM_ABSENT)
        return give_int(out, 0);
    if (out->kind == TERM_INT || out->kind == TERM_REAL)
        return true;
    return fail(e, "%s is %s, not a number", part_text(e, part), kind_text(out));
}

static bool integer(struct evaluation *e, const struct expression *part, int64_t *out)
{
    struct term term;

    if (!number(e, part, &term))
        return false;
    *out = term.integer;
    return term.kind == TERM_INT || fail(e, "%s is not a whole number", part_text(e, part));
}

bool evaluation_truth(struct evaluation *e, const struct expression *part, bool *out)
{
    const bool outer = e->absent;
    struct term term;
    bool absent;

    e->absent = false;
    if (!evaluation_run(e, part, &term))
        return false;
    absent = e->absent;
    e->absent = outer;
    if (term.kind == TERM_TEXT || term.kind == TERM_INTS)
        return fail(e, "%s is %s, not a condition", part_text(e, part), kind_text(&term));
    *out = absent || as_real(&term) != 0;
    return true;
}

static bool ints_arithmetic(struct evaluation *e, const struct expression *part, int64_t a,
                            int64_t b, struct term *out)
{
    int64_t result = 0;
    bool overflow = false;

    switch (part->sign) {
    case SIGN_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
    case SIGN_SUBTRACT: overflow = __builtin_sub_overflow(a, b, &result); break;
    case SIGN_MULTIPLY: overflow = __builtin_mul_overflow(a, b, &result); break;
    default:
        if (b == 0)
            return fail(e, "%s divides by zero", part_text(e, part));
        overflow = a == INT64_MIN && b == -1;
        if (!overflow)
            result = part->sign == SIGN_DIVIDE ? a / b : a % b;
    }
    if (overflow)
        return fail(e, "%s is beyond 64 bits", part_text(e, part));
    return give_int(out, result);
}

static bool arithmetic(struct evaluation *e, const struct expression *part, struct term *out)
{
    struct term a, b;

    if (!number(e, part->args[0], &a) || !number(e, part->args[1], &b))
        return false;
    if (a.kind == TERM_INT && b.kind == TERM_INT)
        return ints_arithmetic(e, part, a.integer, b.integer, out);
    switch (part->sign) {
    case SIGN_ADD: return give_real(e, part, out, as_real(&a) + as_real(&b));
    case SIGN_SUBTRACT: return give_real(e, part, out, as_real(&a) - as_real(&b));
    case SIGN_MULTIPLY: return give_real(e, part, out, as_real(&a) * as_real(&b));
    case SIGN_DIVIDE:
        if (as_real(&b) == 0)
            return fail(e, "%s divides by zero", part_text(e, part));
        return give_real(e, part, out, as_real(&a) / as_real(&b));
    default: return fail(e, "%s: %% takes whole numbers", part_text(e, part));
    }
}

static bool numbers_compare(enum sign sign, const struct term *a, const struct term *b)
{
    const bool exact = a->kind == TERM_INT && b->kind == TERM_INT;
    const double x = as_real(a), y = as_real(b);
    const bool less = exact ? a->integer < b->integer : x < y;
    const bool greater = exact ? a->integer > b->integer : x > y;

    switch (sign) {
    case SIGN_EQUAL: return !less && !greater;
    case SIGN_UNEQUAL: return less || greater;
    case SIGN_LESS: return less;
    case SIGN_LESS_EQUAL: return !greater;
    case SIGN_GREATER: return greater;
    default: return !less;
    }
}

static bool comparison(struct evaluation *e, const struct expression *part, struct term *out)
{
    const bool outer = e->absent;
    struct term a, b;
    bool absent, equal;

    e->absent = false;
    if (!evaluation_run(e, part->args[0], &a) || !evaluation_run(e, part->args[1], &b))
        return false;
    absent = e->absent;
    e->absent = outer;
    if (absent)
        return give_int(out, 1);
    if (a.kind != TERM_TEXT && a.kind != TERM_INTS && b.kind != TERM_TEXT && b.kind != TERM_INTS)
        return give_int(out, numbers_compare(part->sign, &a, &b));
    if (a.kind != b.kind)
        return fail(e, "%s compares %s with %s", part_text(e, part), kind_text(&a), kind_text(&b));
    if (part->sign != SIGN_EQUAL && part->sign != SIGN_UNEQUAL)
        return fail(e, "%s: only numbers have an order", part_text(e, part));
    equal = a.kind == TERM_TEXT ? strcmp(a.text, b.text) == 0 : ints_equal(&a.ints, &b.ints);
    return give_int(out, equal == (part->sign == SIGN_EQUAL));
}

static bool binary(struct evaluation *e, const struct expression *part, struct term *out)
{
    bool a, b;

    if (sign_is_comparison(part->sign))
        return comparison(e, part, out);
    if (part->sign != SIGN_AND && part->sign != SIGN_OR)
        return arithmetic(e, part, out);
    if (!evaluation_truth(e, part->args[0], &a))
        return false;
    if (a == (part->sign == SIGN_OR))
        return give_int(out, a);
    return evaluation_truth(e, part->args[1], &b) && give_int(out, b);
}

static bool unary(struct evaluation *e, const struct expression *part, struct term *out)
{
    const bool outer = e->absent;
    bool absent;

    if (part->sign == SIGN_NOT) {
        e->absent = false;
        if (!evaluation_run(e, part->args[0], out))
            return false;
        absent = e->absent;
        e->absent = outer;
        if (out->kind == TERM_TEXT || out->kind == TERM_INTS)
            return fail(e, "%s is %s, not a condition", part_text(e, part->args[0]),
                        kind_text(out));
        return give_int(out, absent || as_real(out) == 0);
    }
    if (!number(e, part->args[0], out))
        return false;
    if (out->kind == TERM_REAL)
        return give_real(e, part, out, -out->real);
    if (out->integer == INT64_MIN)
        return fail(e, "%s is beyond 64 bits", part_text(e, part));
    return give_int(out, -out->integer);
}

static bool list(struct evaluation *e, const struct expression *part, struct term *out)
{
    *out = (struct term){ .kind = TERM_INTS, .ints.n = part->n_args };
    for (int i = 0; i < part->n_args; i++)
        if (!integer(e, part->args[i], &out->ints.at[i]))
            return false;
    return true;
}

static bool element(struct evaluation *e, const struct expression *part, struct term *out)
{
    struct term list;
    int64_t at;

    if (!evaluation_run(e, part->args[0], &list) || !integer(e, part->args[1], &at))
        return false;
    if (list.kind == TERM_ABSENT) {
        *out = list;
        return true;
    }
    if (list.kind != TERM_INTS)
        return fail(e, "%s is %s, not a list", part_text(e, part->args[0]), kind_text(&list));
    if (at >= list.ints.n || at < -list.ints.n)
        return fail(e, "%s has %d element%s, there is no [%lld]", part_text(e, part->args[0]),
                    list.ints.n, list.ints.n == 1 ? "" : "s", (long long)at);
    return give_int(out, list.ints.at[at < 0 ? at + list.ints.n : at]);
}

/* The least or the greatest operand, as a real number when any is one. */
static bool extreme(struct evaluation *e, const struct expression *part, struct term *out)
{
    const enum sign better = part->callee == CALLEE_MIN ? SIGN_LESS : SIGN_GREATER;
    bool real = false;

    for (int i = 0; i < part->n_args; i++) {
        struct term term;

        if (!number(e, part->args[i], &term))
            return false;
        real = real || term.kind == TERM_REAL;
        if (i == 0 || numbers_compare(better, &term, out))
            *out = term;
    }
    return !real || give_real(e, part, out, as_real(out));
}

/* a / b towards +infinity, and that times b. */
static bool round_up(struct evaluation *e, const struct expression *part, struct term *out)
{
    int64_t a, b, quotient;

    if (!integer(e, part->args[0], &a) || !integer(e, part->args[1], &b))
        return false;
    if (b == 0)
        return fail(e, "%s divides by zero", part_text(e, part));
    if (a == INT64_MIN && b == -1)
        return fail(e, "%s is beyond 64 bits", part_text(e, part));
    quotient = a / b + (a % b != 0 && (a < 0) == (b < 0));
    if (part->callee == CALLEE_CEIL_DIV)
        return give_int(out, quotient);
    if (__builtin_mul_overflow(quotient, b, &quotient))
        return fail(e, "%s is beyond 64 bits", part_text(e, part));
    return give_int(out, quotient);
}

static bool absolute(struct evaluation *e, const struct expression *part, struct term *out)
{
    if (!number(e, part->args[0], out))
        return false;
    if (out->kind == TERM_REAL)
        return give_real(e, part, out, fabs(out->real));
    if (out->integer == INT64_MIN)
        return fail(e, "%s is beyond 64 bits", part_text(e, part));
    return give_int(out, out->integer < 0 ? -out->integer : out->integer);
}

/* Of whole numbers rounded down. */
static bool logarithm(struct evaluation *e, const struct expression *part, struct term *out)
{
    if (!number(e, part->args[0], out))
        return false;
    if (as_real(out) <= 0)
        return fail(e, "%s: only positive numbers have a logarithm", part_text(e, part));
    if (out->kind == TERM_REAL)
        return give_real(e, part, out, log2(out->real));
    return give_int(out, 63 - __builtin_clzll((unsigned long long)out->integer));
}

static bool length(struct evaluation *e, const struct expression *part, struct term *out)
{
    struct term list;

    if (!evaluation_run(e, part->args[0], &list))
        return false;
    if (list.kind == TERM_ABSENT)
        return give_int(out, 0);
    if (list.kind != TERM_INTS)
        return fail(e, "%s is %s, not a list", part_text(e, part->args[0]), kind_text(&list));
    return give_int(out, list.ints.n);
}

static bool present(struct evaluation *e, const struct expression *part, struct term *out)
{
    const struct expression *name = part->args[0];
    const char *why = NULL;
    struct term term;

    if (!e->scope->look_up(e->scope->user, name->name, name->field, &term, &why))
        return fail(e, "%s: %s", part_text(e, part), why ? why : "there is no such name");
    return give_int(out, term.kind != TERM_ABSENT);
}

static bool call(struct evaluation *e, const struct expression *part, struct term *out)
{
    switch (part->callee) {
    case CALLEE_MIN:
    case CALLEE_MAX: return extreme(e, part, out);
    case CALLEE_ABS: return absolute(e, part, out);
    case CALLEE_CEIL_DIV:
    case CALLEE_ROUND_UP: return round_up(e, part, out);
    case CALLEE_LOG2: return logarithm(e, part, out);
    case CALLEE_LEN: return length(e, part, out);
    default: return present(e, part, out);
    }
}

static bool conditional(struct evaluation *e, const struct expression *part, struct term *out)
{
    const bool outer = e->absent;
    struct term test;

    if (!number(e, part->args[0], &test))
        return false;
    e->absent = outer;
    return evaluation_run(e, part->args[as_real(&test) != 0 ? 1 : 2], out);
}

static bool name(struct evaluation *e, const struct expression *part, struct term *out)
{
    const char *why = NULL;

    if (e->scope->look_up(e->scope->user, part->name, part->field, out, &why)) {
        e->absent = e->absent || out->kind == TERM_ABSENT;
        return true;
    }
    if (part->field || why)
        return fail(e, "%s: %s", part_text(e, part), why ? why : "there is no such name");
    *out = (struct term){ .kind = TERM_TEXT, .text = part->name };
    return true;
}

bool evaluation_run(struct evaluation *e, const struct expression *part, struct term *out)
{
    switch (part->kind) {
    case EXPRESSION_CONSTANT: *out = part->constant; return true;
    case EXPRESSION_NAME: return name(e, part, out);
    case EXPRESSION_LIST: return list(e, part, out);
    case EXPRESSION_INDEX: return element(e, part, out);
    case EXPRESSION_UNARY: return unary(e, part, out);
    case EXPRESSION_BINARY: return binary(e, part, out);
    case EXPRESSION_CONDITIONAL: return conditional(e, part, out);
    default: return call(e, part, out);
    }
}

bool expression_evaluate(const struct expression *expression, const struct scope *scope,
                         struct arena *arena, struct term *out, const char **why)
{
    struct evaluation e = { .scope = scope, .arena = arena };

    if (evaluation_run(&e, expression, out))
        return true;
    *why = e.why;
    return false;
}
