/* match_search.h - a search for a match while it runs; for the files match*.c only. */
#ifndef PARTITION_MATCH_SEARCH_H
#define PARTITION_MATCH_SEARCH_H

#include "partition/pattern_parse.h"

enum {
    SEARCH_MAX_PATH = 256, /* operators between the ends of dominates */
    SEARCH_MAX_NODES = PATTERN_MAX_PARTS + SEARCH_MAX_PATH,
    SEARCH_MAX_GOALS = 4 * PATTERN_MAX_PARTS,
    SEARCH_MAX_STEPS = 20000, /* then the search is given up: a hostile pattern */
    SEARCH_MAX_INPUTS = 200,  /* of one operator in a match */
    SEARCH_MAX_WANTED = 12
};

/* "This value must match this pattern, and then what `next` says." */
struct goal {
    const struct pattern *pattern;
    struct value *value;
    struct node *reader;  /* whose input the value is; NULL = the root */
    bool is_root;         /* any output of the node may be meant */
    bool any_output;      /* likewise: a tuple-get has looked at it */
    bool connector;       /* in the child of dominates: values without a name are ends of paths */
    bool paths;           /* of dominates: the child is matched, now the paths and the parent */
    int n_bound, n_nodes; /* paths: what was there before the child */
    const struct goal *next;
};

/* A part of the pattern and the value that it has been matched with. */
struct bound {
    const struct pattern *pattern;
    struct value *value;
    bool rest;      /* an input that the operator's "..." stands for */
    bool connector; /* may be computed inside of the match */
};

enum failure {
    FAILURE_OP,     /* another operator, or no operator */
    FAILURE_ABSENT, /* the optional input is not there */
    FAILURE_OUTPUT, /* another output of the operator */
    FAILURE_INPUTS, /* another number of inputs */
    FAILURE_KIND,   /* constant or not */
    FAILURE_TYPE,
    FAILURE_ATTR,
    FAILURE_SAME,    /* what must be one value is two */
    FAILURE_TAKEN,   /* may_take refuses */
    FAILURE_PATH,    /* no parent is found */
    FAILURE_INNER,   /* a value from outside is computed inside */
    FAILURE_OUTSIDE, /* a value from inside is read outside */
    FAILURE_STEPS
};

/* The attempt that came furthest. */
struct failed {
    bool any;
    enum failure failure;
    int score, n_matched;
    const struct pattern *pattern;
    struct node *node;   /* looked at */
    struct value *value; /* looked at; NULL = absent */
    struct node *reader; /* who reads the value; of OUTSIDE: the one outside */
    int attr;            /* ATTR: index in pattern->attrs */
    int n_wanted;        /* OP: all operators that were wanted here */
    const struct pattern *wanted[SEARCH_MAX_WANTED];
};

struct search {
    const struct matcher *matcher;
    const struct pattern *pattern; /* the whole */
    struct node *root;
    bool is_path; /* a look at one operator of a path, not a match */
    int steps;
    int n_goals, n_bound, n_nodes;
    struct failed *failed;
    struct match *out;
    struct bound bound[SEARCH_MAX_GOALS];
    struct node *nodes[SEARCH_MAX_NODES];
    struct goal goals[SEARCH_MAX_GOALS];
};

bool search_solve(struct search *search, const struct goal *goal);

/* For a goal with `paths`. */
bool search_paths(struct search *search, const struct goal *goal);

/* No goals are left: whether the whole is a match; then makes it. */
bool search_finish(struct search *search);

bool search_has_node(const struct search *search, int from, const struct node *node);
bool search_may_take(const struct search *search, const struct node *node);

/* Notes a failure at this goal; returns false. */
bool search_fail(struct search *search, enum failure failure, const struct goal *goal, int attr);

void failed_note(struct failed *failed, const struct failed *attempt);
void failed_tell(const struct failed *failed, struct arena *arena, struct mismatch *why);

bool op_is_commutative(enum op op);

/* An attribute as a term; false when there is none of this name, or no term can hold it (*why). */
bool node_attr(const struct node *node, const char *field, struct term *out, const char **why);

#endif
