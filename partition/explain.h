/* explain.h - why each node was assigned as it was: for `relayc targets --explain`, NAME.json, and
 * the comment above an offloaded call. */
#ifndef PARTITION_EXPLAIN_H
#define PARTITION_EXPLAIN_H

#include <cjson/cJSON.h>

#include "partition/partition.h"

/* Result of one row of one backend at a node. */
struct verdict {
    const struct composite_row *row;
    bool tried; /* false: an earlier row of the backend took the node */
    bool matched;
    bool chosen;
    int candidate;              /* id of the candidate; -1 = no match */
    int n_nodes;                /* in the match */
    double target_ns, host_ns;  /* estimates of the candidate */
    const char *found, *wanted; /* no match: of the failed check */
    int column;                 /* no match: column in the row's pattern, from 1; 0 = a condition */
    const char *excluded;       /* match not chosen: why, as a sentence */
    const char *reason;         /* match not chosen: why, as a keyword: a limit's name, "min_macs",
                           "hand-over", "overlap", "slower", "assignment" */
    const char *cost_problem;   /* match: problem of the row's cost_ns; NULL = none */
    bool elsewhere;             /* no match: not even the root operator fits the row */
};

struct explained_node {
    const char *name; /* of its first output, raw */
    enum op op;
    const char *type; /* of its first output, as text */
    const struct origin *origin;
    const struct target *target;  /* assigned backend */
    const struct target *kept_by; /* backend whose keep_on_host lists the operator; NULL = none */
    int region;                   /* -1 = host */
    double host_ns;
    int n;
    struct verdict *verdicts; /* rows that mention the operator: backends in the user's order, rows
                                 in file order, the host's last */
};

struct explanation {
    int n_nodes;
    struct explained_node *nodes; /* in order of execution */
    int n_regions;
    struct region_plan *regions;
    const struct decision *decisions;
    int n_targets;
    const struct target *const *targets; /* in the user's order */
    double host_only_ns, chosen_ns;      /* estimates for the network: all on the host, and as
                                            chosen */
};

/* Fills partition->explanation; called before the graph is rewritten. */
void partition_explain(struct partition *partition);

/* Text for users: a line per node followed by the rows that were tried; then regions, decisions and
 * a line per backend. `only` (NULL = all): nodes whose name, or name in the ONNX file, contains
 * it. */
void explanation_print(const struct explanation *explanation, const char *only, struct arena *arena,
                       struct str *out);

/* The explanation as JSON (schema in docs/guide/backends.md). The caller frees it. */
cJSON *explanation_json(const struct explanation *explanation, struct arena *arena);

#endif
