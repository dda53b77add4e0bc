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
};

struct explained_node {
    const char *name; /* of its first output, raw */
    enum op op;
    const char *type; /* of its first output, as text */
    const struct origin *origin;
    const struct target *target; /* where it went */
    int region;                  /* -1 = host */
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
    double host_only_ns, chosen_ns; /* estimates for the network: all on c, and as chosen */
};

/* Fills partition->explanation; called before the graph is rewritten. */
void partition_explain(struct partition *partition);

/* For people: per node one line, below it the rows that were tried; then regions and decisions. */
void explanation_print(const struct explanation *explanation, struct arena *arena, struct str *out);

/* The same as data; docs/targets.md has the schema. The caller frees it. */
cJSON *explanation_json(const struct explanation *explanation, struct arena *arena);

#endif
