/* explain.h - why each node went where it went: for `relayc targets --explain`, NAME.json, and the
 * comment above an offloaded call. */
#ifndef PARTITION_EXPLAIN_H
#define PARTITION_EXPLAIN_H

#include <cjson/cJSON.h>

#include "partition/partition.h"

/* What one row of one target said about a node. */
struct verdict {
    const struct composite_row *row;
    bool tried; /* false: a row of the same target in front of it has the node */
    bool matched;
    bool chosen;
    int candidate;              /* its id; -1 = did not match */
    int n_nodes;                /* of the match */
    double target_ns, host_ns;  /* of the candidate */
    const char *found, *wanted; /* not matched: of the check that failed */
    int column;                 /* of that place in the row's pattern, from 1; 0 = a condition */
    const char *excluded;       /* matched, not chosen: why */
    const char *reason; /* ... in a word: a limit, "min_macs", "hand-over", "overlap", "slower",
                           "assignment" */
    const char *cost_problem; /* matched: of the row's cost_ns; NULL = none */
    bool elsewhere;           /* not matched: not even its first operator is one of the row's */
};

struct explained_node {
    const char *name; /* of its first output, raw */
    enum op op;
    const char *type; /* of its first output, as text */
    const struct origin *origin;
    const struct target *target;  /* where it went */
    const struct target *kept_by; /* whose keep_on_host lists the operator; NULL = nobody's */
    int region;                   /* -1 = host */
    double host_ns;
    int n;
    struct verdict *verdicts; /* rows that mention the operator: targets in the user's order, rows
                                 in theirs; then the host's */
};

struct explanation {
    int n_nodes;
    struct explained_node *nodes; /* in order of execution */
    int n_regions;
    struct region_plan *regions;
    const struct decision *decisions;
    int n_targets;
    const struct target *const *targets; /* in the user's order */
    double host_only_ns, chosen_ns;      /* estimates for the network: all on c, and as chosen */
};

/* Fills partition->explanation; called before the graph is rewritten. */
void partition_explain(struct partition *partition);

/* For people: per node one line, below it the rows that were tried; then regions, decisions and a
 * line per target. `only`: nothing but the nodes whose own name, or a name of theirs in the ONNX
 * file, contains it; NULL = all. */
void explanation_print(const struct explanation *explanation, const char *only, struct arena *arena,
                       struct str *out);

/* The same as data; docs/guide/backends.md has the schema. The caller frees it. */
cJSON *explanation_json(const struct explanation *explanation, struct arena *arena);

#endif
