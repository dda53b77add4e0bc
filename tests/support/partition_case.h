/* partition_case.h - a step of the partitioner as a row of a table: a graph as IR text, targets as
 * JSON, and the state behind the step as partition_print tells it. */
#ifndef TESTS_SUPPORT_PARTITION_CASE_H
#define TESTS_SUPPORT_PARTITION_CASE_H

#include "partition/partition.h"

/* A small target: its rows, then other members of target.json (limits, rates) or "". */
#define TARGET(name, rows, members)                                                                \
    "{ \"name\": \"" name "\", \"format\": \"extern\", \"composites\": [" rows "]" members "}"
#define ROW(name, pattern) "{ \"name\": \"" name "\", \"pattern\": \"" pattern "\" }"
/* A row with other members: conditions, a cost. */
#define ROW_WITH(name, pattern, members)                                                           \
    "{ \"name\": \"" name "\", \"pattern\": \"" pattern "\", " members "}"

/* The host, unless the row has another: 100 ns per operator and 1 per multiply-accumulate. */
#define HOST "{ \"name\": \"c\", \"rates\": { \"call_ns\": 100, \"ns_per_mac\": {\"other\": 1} } }"

enum { CASE_TARGETS = 4 };

struct partition_case {
    const char *graph;
    const char *targets[CASE_TARGETS]; /* in the user's order */
    const char *host;                  /* NULL = HOST */
    enum assign assign;
    bool no_cost;
    const char *until; /* the last step that runs */
    const char *want;  /* output of partition_print */
};

void partition_case_check(const struct partition_case *row);

/* A target from JSON that names no files. Fails the test when it does not load. */
struct target *case_target(struct ctx *ctx, const char *text);

/* Options for targets in the user's order. In ctx->perm. */
struct partition_options *case_options(struct ctx *ctx, struct target *host, int n,
                                       struct target *const *targets, enum assign assign,
                                       bool no_cost);

/* Runs the steps up to and including `until`. Fails the test when one fails. */
void case_run(struct partition *partition, const char *until);

/* One step more. */
void case_step(struct partition *partition, const char *name);

const char *case_state(const struct partition *partition); /* in ctx->perm */

#endif
