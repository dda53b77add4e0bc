/* expression.h - the expression language of target files: conditions, costs, sizes, template keys.
 *
 *   w.dim[2] <= 7 && w.dim[3] <= 7          out.dtype == f32        x.shape == residual.shape
 *   4 * ceil_div(x.dim[1], 4) * x.dim[3]    present(b) ? 4 : 0      conv2d.data_layout == "NCHW"
 *
 * Precedence as in C, without assignment and bit operations: ?:  ||  &&  == !=  < <= > >=  + -  * /
 * % unary ! -. Numbers are int64 (overflow is an error of the evaluation, never wraps) or double;
 * `/` of integers rounds towards zero, division by zero is an error. A word that is not a name in
 * scope is text (f32, same), as is quoted text. Lists (shape, strides) are compared by == and !=,
 * and indexed [i], where [-1] is the last element; len(list). Functions: min max abs ceil_div
 * round_up log2 len present.
 *
 * A known name that is absent (an optional part of the pattern that did not match) makes its
 * comparison true, so that a condition on `b` holds if there is no b; in arithmetic it is 0.
 * present(b) tests for it. */
#ifndef PARTITION_EXPRESSION_H
#define PARTITION_EXPRESSION_H

#include "base/json/source.h"
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

/* Resolves names: look_up("w", "dim") for w.dim, look_up("macs", NULL) for a bare name. False:
 * unknown; an unknown bare word is text, an unknown w.field an error that *why describes. A bare
 * word with *why set is a name whose value cannot be computed; *why is NULL on entry. */
struct scope {
    bool (*look_up)(void *user, const char *name, const char *field, struct term *out,
                    const char **why);
    void *user;
};

/* NULL after errors with line and column. The result lives in ctx->perm. */
struct expression *expression_parse(struct ctx *ctx, const struct source *source, const char *text);

/* False after an error, described in *why (in the arena). */
bool expression_evaluate(const struct expression *expression, const struct scope *scope,
                         struct arena *arena, struct term *out, const char **why);

/* Evaluates a condition. If it is false, *found gives the values of the names in the failed part
 * ("w.dim[2] is 11"), *wanted that part as written ("w.dim[2] <= 7"). In `a && b` the first failing
 * part is reported. An evaluation error counts as false. */
bool expression_holds(const struct expression *expression, const struct scope *scope,
                      struct arena *arena, const char **found, const char **wanted);

/* Calls see() for every name, ("w", "dim") or ("macs", NULL), with its offset in the text. For
 * loaders, which check names and cycles among definitions. */
void expression_names(const struct expression *expression,
                      void (*see)(void *user, const char *name, const char *field, size_t offset),
                      void *user);

/* Calls see() for every == and != of a field with a word or quoted text: ("dtype", "float32") for
 * x.dtype == float32. `bare`: an unquoted word; `offset`: of the word in the text. */
void expression_comparisons(const struct expression *expression,
                            void (*see)(void *user, const char *field, const char *word, bool bare,
                                        size_t offset),
                            void *user);

/* True if n conditions provably exclude each other: a term is compared with incompatible constants
 * ("x.rank == 4" and "x.rank < 3"). *first and *second are the two (equal if one contradicts
 * itself). False proves nothing. */
bool expressions_clash(struct arena *scratch, struct expression *const *conditions, int n,
                       int *first, int *second);

/* Source text of the expression. */
const char *expression_text(const struct expression *expression);

#endif
