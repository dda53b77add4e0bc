/* match_search.h - state of a pattern search; private to match*.c. */
#ifndef PARTITION_MATCH_SEARCH_H
#define PARTITION_MATCH_SEARCH_H

#include "partition/pattern_parse.h"

enum {
    SEARCH_MAX_PATH = 256, /* operators on the paths of `dominates` */
    SEARCH_MAX_NODES = PATTERN_MAX_PARTS + SEARCH_MAX_PATH,
    SEARCH_MAX_GOALS = 4 * PATTERN_MAX_PARTS,
    SEARCH_MAX_STEPS = 20000, /* limit against hostile patterns */
    SEARCH_MAX_INPUTS = 200,  /* inputs of one operator in a match */
    SEARCH_MAX_WANTED = 12
};

/* Goal: `value` matches `pattern`, then `next` holds. */
struct goal {
    const struct pattern *pattern;
    struct value *value;
    struct node *reader;  /* node that reads the value; NULL = the root */
    bool is_root;         /* any output of the node may match */
    bool any_output;      /* any output may match: a tuple-get has checked it */
    bool connector;       /* in the child of `dominates`: unnamed values end paths */
    bool paths;           /* of `dominates`: the child has matched; paths and parent remain */
    int n_bound, n_nodes; /* paths: counts before the child was matched */
    const struct goal *next;
};

/* A part of the pattern and the value that it matched. */
struct bound {
    const struct pattern *pattern;
    struct value *value;
    bool rest;      /* input matched by the operator's "..." */
    bool connector; /* may be computed inside the match */
};

enum failure {
    FAILURE_OP,     /* different operator, or none */
    FAILURE_ABSENT, /* optional input is absent */
    FAILURE_OUTPUT, /* different output of the operator */
    FAILURE_INPUTS, /* different number of inputs */
    FAILURE_KIND,   /* constant or not */
    FAILURE_TYPE,
    FAILURE_ATTR,
    FAILURE_SAME,    /* parts that must be one value are two */
    FAILURE_TAKEN,   /* may_take refuses */
    FAILURE_PATH,    /* no parent found */
    FAILURE_INNER,   /* external value is computed inside */
    FAILURE_OUTSIDE, /* internal value is read outside */
    FAILURE_STEPS
};

/* The attempt that matched most. */
struct failed {
    bool any;
    enum failure failure;
    int score, n_matched;
    const struct pattern *pattern;
    struct node *node;   /* examined node */
    struct value *value; /* examined value; NULL = absent */
    struct node *reader; /* reader of the value; OUTSIDE: the external reader */
    int attr;            /* ATTR: index in pattern->attrs */
    int n_wanted;        /* OP: operators that would have matched */
    const struct pattern *wanted[SEARCH_MAX_WANTED];
};

struct search {
    const struct matcher *matcher;
    const struct pattern *pattern; /* the whole pattern */
    struct node *root;
    bool is_path; /* tests one operator of a path, not a whole match */
    int steps;
    int n_goals, n_bound, n_nodes;
    struct failed *failed;
    struct match *out;
    struct bound bound[SEARCH_MAX_GOALS];
    struct node *nodes[SEARCH_MAX_NODES];
    struct goal goals[SEARCH_MAX_GOALS];
};

bool search_solve(struct search *search, const struct goal *goal);

/* Continues a goal with `paths` set. */
bool search_paths(struct search *search, const struct goal *goal);

/* No goals left: checks the whole match and stores it in search->out. */
bool search_finish(struct search *search);

bool search_has_node(const struct search *search, int from, const struct node *node);
bool search_may_take(const struct search *search, const struct node *node);

/* Records a failure at this goal; returns false. */
bool search_fail(struct search *search, enum failure failure, const struct goal *goal, int attr);

void failed_note(struct failed *failed, const struct failed *attempt);
void failed_tell(const struct failed *failed, struct arena *arena, struct mismatch *why);

bool op_is_commutative(enum op op);

/* Attribute as a term; false if the node has none of this name, or no term can hold it (*why). */
bool node_attr(const struct node *node, const char *field, struct term *out, const char **why);

#endif
