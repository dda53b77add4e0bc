/* limit.h - limits on what a model may cost the compiler: nodes, memory, work, text (table:
 * limit.def).
 *
 * A small file can demand anything: a chain of twenty concatenations doubles a constant twenty
 * times. Each phase checks here first. Limits are counts, not times, so that every host accepts the
 * same models. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ctx;
struct origin;

enum cost_limit {
#define LIMIT(symbol, option, kind, base, scale, what) LIMIT_##symbol,
#include "base/limit.def"
#undef LIMIT
    LIMIT_COUNT
};

struct cost_limits {
    int64_t given[LIMIT_COUNT]; /* by the user; 0 = the table's default */
    int64_t model_bytes;        /* size of the model's files, external data included */
    int64_t work;               /* work spent so far, against LIMIT_CONSTANT_WORK */
};

bool limit_is_bytes(enum cost_limit limit);

int64_t limit_value(const struct ctx *ctx, enum cost_limit limit);

/* True if `found` is within the limit; else an error against the node, "FOUND WHAT; the limit is
 * N", with the option that raises it. */
bool limit_check(struct ctx *ctx, enum cost_limit limit, const struct origin *origin, double found);

/* Adds work to what was spent, and checks the limit. */
bool limit_spend(struct ctx *ctx, const struct origin *origin, double work);

/* Prints the table, a line per limit. */
void limits_print(FILE *out);

#endif
