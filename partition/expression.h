/* expression.h - the small expressions of target files: conditions, costs, sizes, template keys.
 *
 *   w.dim[2] <= 7 && w.dim[3] <= 7          out.dtype == f32        x.shape == residual.shape
 *   4 * ceil_div(x.dim[1], 4) * x.dim[3]    present(b) ? 4 : 0      conv2d.data_layout == "NCHW"
 *
 * Precedence as in C, without assignment and bit operations: ?:  ||  &&  == !=  < <= > >=  + -  * /
 * % unary ! -. Numbers are int64 (overflow is an error of the evaluation, never wraps) or double;
 * `/` of integers rounds towards zero, division by zero is an error. A word that is no name of the
 * scope is text (f32, same); quoted text also exists. Lists (shape, strides) compare with == and
 * !=, and are indexed [i], [-1] is the last; len(list). Functions: min max abs ceil_div round_up
 * log2 len present.
 *
 * A name that the scope knows but that is absent (an optional part of the pattern that did not
 * match) makes the comparison that mentions it true, so that a condition on `b` says nothing where
 * there is no b; in arithmetic it is 0. present(b) asks. */
#ifndef PARTITION_EXPRESSION_H
#define PARTITION_EXPRESSION_H

#include "partition/source.h"
#include "relay_ir/attrs.h"

struct expression;

enum term_kind { TERM_ABSENT, TERM_INT, TERM_REAL, TERM_TEXT, TERM_INTS };

struct term {
    enum term_kind kind;
    int64_t integer; /* TERM_INT; truth is 0 or 1 */
    double real;
    const char *text;
    struct ints ints;
};

/* What names mean. look_up("w", "dim") for w.dim, look_up("macs", NULL) for a bare name. False: not
 * a name of this scope (an unknown bare word is then text, an unknown w.thing an error that says
 * *why). A bare word with *why set is a name whose value cannot be computed; *why is NULL before.
 */
struct scope {
    bool (*look_up)(void *user, const char *name, const char *field, struct term *out,
                    const char **why);
    void *user;
};

/* NULL after errors with line and column. The result lives in ctx->perm. */
struct expression *expression_parse(struct ctx *ctx, const struct source *source, const char *text);

/* False: *why says what went wrong (in the arena). */
bool expression_evaluate(const struct expression *expression, const struct scope *scope,
                         struct arena *arena, struct term *out, const char **why);

/* Evaluates a condition. When it does not hold, *found says what the names in the part that failed
 * are ("w.dim[2] is 11"), *wanted that part as it is written ("w.dim[2] <= 7"). In `a && b` the
 * first part that fails is the one that is told. An evaluation that goes wrong does not hold. */
bool expression_holds(const struct expression *expression, const struct scope *scope,
                      struct arena *arena, const char **found, const char **wanted);

/* Calls see() for every name in it: ("w", "dim"), ("macs", NULL). For loaders that check names and
 * look for cycles among definitions. `offset` is its place in the text. */
void expression_names(const struct expression *expression,
                      void (*see)(void *user, const char *name, const char *field, size_t offset),
                      void *user);

/* Calls see() for every == and != of a field with a word or a quoted text: ("dtype", "float32")
 * for x.dtype == float32; `bare` tells which of both, `offset` is the place of the word in the
 * text. */
void expression_comparisons(const struct expression *expression,
                            void (*see)(void *user, const char *field, const char *word, bool bare,
                                        size_t offset),
                            void *user);

/* Whether the conjunction of n conditions can never hold, for what constants tell: the same term is
 * compared with constants that exclude each other ("x.rank == 4" and "x.rank < 3"). *first and
 * *second are the two that clash (equal when one clashes with itself). A false answer promises
 * nothing. */
bool expressions_clash(struct arena *scratch, struct expression *const *conditions, int n,
                       int *first, int *second);

/* The text it was parsed from. */
const char *expression_text(const struct expression *expression);

#endif
