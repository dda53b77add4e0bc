/* expression.c - questions about expressions that need no scope: the names in them, and whether
 * several can hold together. */
#include "partition/expression.h"

#include <ctype.h>
#include <string.h>

#include "base/dtype.h"
#include "base/str.h"
#include "partition/expression_tree.h"

/* A comparison of something with a constant, something on the left. */
struct bound {
    int condition;
    const char *subject; /* without blanks */
    enum sign sign;
    struct term constant;
};

struct bounds {
    struct arena *arena;
    int n, capacity;
    struct bound *at;
};

const char *expression_text(const struct expression *expression)
{
    return expression->text;
}

const char *expression_part(const struct expression *part, struct arena *arena)
{
    return arena_strndup(arena, part->text + part->start, part->end - part->start);
}

void expression_names(const struct expression *expression,
                      void (*see)(void *user, const char *name, const char *field, size_t offset),
                      void *user)
{
    if (expression->kind == EXPRESSION_NAME)
        see(user, expression->name, expression->field, expression->name_start);
    for (int i = 0; i < expression->n_args; i++)
        expression_names(expression->args[i], see, user);
}

/* What a part says as text, NULL = it is something else. */
static const char *word_of(const struct expression *part)
{
    if (part->kind == EXPRESSION_NAME)
        return part->field ? NULL : part->name;
    return part->kind == EXPRESSION_CONSTANT && part->constant.kind == TERM_TEXT
               ? part->constant.text
               : NULL;
}

void expression_comparisons(const struct expression *expression,
                            void (*see)(void *user, const char *field, const char *word, bool bare,
                                        size_t offset),
                            void *user)
{
    const bool equality = expression->kind == EXPRESSION_BINARY &&
                          (expression->sign == SIGN_EQUAL || expression->sign == SIGN_UNEQUAL);

    for (int i = 0; equality && i < 2; i++) {
        const struct expression *a = expression->args[i], *b = expression->args[1 - i];

        if (a->kind == EXPRESSION_NAME && a->field && word_of(b))
            see(user, a->field, word_of(b), b->kind == EXPRESSION_NAME,
                b->kind == EXPRESSION_NAME ? b->name_start : b->start);
    }
    for (int i = 0; i < expression->n_args; i++)
        expression_comparisons(expression->args[i], see, user);
}

/* Element types are the only words that are surely text in every scope. */
static bool is_constant(const struct expression *part)
{
    if (part->kind == EXPRESSION_NAME)
        return !part->field && dtype_from_name(part->name) != DTYPE_NONE;
    if (part->kind == EXPRESSION_CALL && part->callee == CALLEE_PRESENT)
        return false;
    for (int i = 0; i < part->n_args; i++)
        if (!is_constant(part->args[i]))
            return false;
    return true;
}

static bool knows_nothing(void *user, const char *name, const char *field, struct term *out,
                          const char **why)
{
    (void)user, (void)name, (void)field, (void)out, (void)why;
    return false;
}

static const struct scope no_names = { .look_up = knows_nothing };

static const char *without_blanks(struct arena *arena, const struct expression *part)
{
    struct str text = { .arena = arena };

    for (size_t i = part->start; i < part->end; i++)
        if (!isspace((unsigned char)part->text[i]))
            str_addn(&text, &part->text[i], 1);
    return str_text(&text);
}

static enum sign mirrored(enum sign sign)
{
    switch (sign) {
    case SIGN_LESS: return SIGN_GREATER;
    case SIGN_LESS_EQUAL: return SIGN_GREATER_EQUAL;
    case SIGN_GREATER: return SIGN_LESS;
    case SIGN_GREATER_EQUAL: return SIGN_LESS_EQUAL;
    default: return sign;
    }
}

static void add_bound(struct bounds *bounds, const struct bound *bound)
{
    if (bounds->n == bounds->capacity) {
        struct bound *more = arena_array(bounds->arena, struct bound, 2 * bounds->n + 8);

        if (bounds->n)
            memcpy(more, bounds->at, (size_t)bounds->n * sizeof *more);
        bounds->at = more;
        bounds->capacity = 2 * bounds->n + 8;
    }
    bounds->at[bounds->n++] = *bound;
}

/* Collects the bounds of a conjunction. False when a part of it is a constant that is false. */
static bool collect(struct bounds *bounds, int condition, const struct expression *part)
{
    struct bound bound = { .condition = condition, .sign = part->sign };
    const char *why;
    bool left;

    if (part->kind == EXPRESSION_BINARY && part->sign == SIGN_AND)
        return collect(bounds, condition, part->args[0]) &&
               collect(bounds, condition, part->args[1]);
    if (is_constant(part))
        return !expression_evaluate(part, &no_names, bounds->arena, &bound.constant, &why) ||
               bound.constant.kind != TERM_INT || bound.constant.integer;
    if (part->kind != EXPRESSION_BINARY || !sign_is_comparison(part->sign))
        return true;
    left = is_constant(part->args[0]);
    if ((!left && !is_constant(part->args[1])) ||
        !expression_evaluate(part->args[!left], &no_names, bounds->arena, &bound.constant, &why))
        return true;
    if (left)
        bound.sign = mirrored(bound.sign);
    bound.subject = without_blanks(bounds->arena, part->args[left]);
    add_bound(bounds, &bound);
    return true;
}

/* -1, 0, 1 as a is less, equal, greater. */
static int compare(const struct term *a, const struct term *b)
{
    const double x = a->kind == TERM_INT ? (double)a->integer : a->real;
    const double y = b->kind == TERM_INT ? (double)b->integer : b->real;

    if (a->kind == TERM_INT && b->kind == TERM_INT)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return (x > y) - (x < y);
}

static bool is_number(const struct term *term)
{
    return term->kind == TERM_INT || term->kind == TERM_REAL;
}

/* No number is both `low` or more (more than it, when strict) and `high` or less. */
static bool is_empty(const struct bound *low, const struct bound *high)
{
    const int order = compare(&low->constant, &high->constant);

    return order > 0 || (order == 0 && (low->sign == SIGN_GREATER || high->sign == SIGN_LESS));
}

static bool bounds_below(enum sign sign)
{
    return sign == SIGN_EQUAL || sign == SIGN_GREATER || sign == SIGN_GREATER_EQUAL;
}

static bool bounds_above(enum sign sign)
{
    return sign == SIGN_EQUAL || sign == SIGN_LESS || sign == SIGN_LESS_EQUAL;
}

static bool bounds_clash(const struct bound *a, const struct bound *b)
{
    bool equal;

    if (strcmp(a->subject, b->subject) != 0)
        return false;
    if (is_number(&a->constant) && is_number(&b->constant)) {
        if (a->sign == SIGN_UNEQUAL || b->sign == SIGN_UNEQUAL)
            return (a->sign == SIGN_EQUAL || b->sign == SIGN_EQUAL) &&
                   compare(&a->constant, &b->constant) == 0;
        return (bounds_below(a->sign) && bounds_above(b->sign) && is_empty(a, b)) ||
               (bounds_below(b->sign) && bounds_above(a->sign) && is_empty(b, a));
    }
    if (a->constant.kind != b->constant.kind)
        return false;
    equal = a->constant.kind == TERM_TEXT ? strcmp(a->constant.text, b->constant.text) == 0
                                          : ints_equal(&a->constant.ints, &b->constant.ints);
    if (a->sign == SIGN_EQUAL && b->sign == SIGN_EQUAL)
        return !equal;
    return equal && ((a->sign == SIGN_EQUAL && b->sign == SIGN_UNEQUAL) ||
                     (a->sign == SIGN_UNEQUAL && b->sign == SIGN_EQUAL));
}

bool expressions_clash(struct arena *scratch, struct expression *const *conditions, int n,
                       int *first, int *second)
{
    struct bounds bounds = { .arena = scratch };

    for (int i = 0; i < n; i++)
        if (!collect(&bounds, i, conditions[i])) {
            *first = *second = i;
            return true;
        }
    for (int j = 0; j < bounds.n; j++)
        for (int i = 0; i < j; i++)
            if (bounds_clash(&bounds.at[i], &bounds.at[j])) {
                *first = bounds.at[i].condition;
                *second = bounds.at[j].condition;
                return true;
            }
    return false;
}
