/* forest.h - decision trees as a file has them, and their node ml.tree_ensemble. */
#ifndef FRONTEND_ONNX_FOREST_H
#define FRONTEND_ONNX_FOREST_H

#include "frontend/onnx/convert.h"

/* What a node asks of v, an element of the row, and its threshold. The numbers are those of
 * TreeEnsemble; a leaf is none of its. */
enum forest_mode {
    FOREST_LEQ,
    FOREST_LT,
    FOREST_GTE,
    FOREST_GT,
    FOREST_EQ,
    FOREST_NEQ,
    FOREST_MEMBER, /* v is one of a set */
    FOREST_LEAF
};

struct forest_node {
    enum forest_mode mode;
    bool missing_is_true; /* NaN goes where the answer is yes, whatever it is */
    int64_t feature;
    double threshold;
    int64_t yes, no;           /* other nodes; checked by forest_scores */
    int64_t member, n_members; /* MEMBER: the set, in forest.members */
    int64_t entry, n_entries;  /* LEAF: what it adds, in forest.entries */
};

struct forest_entry {
    int64_t target;
    double weight;
};

struct forest {
    struct arena arena; /* of all arrays */
    enum dtype dtype;   /* thresholds and sums */
    int64_t n_nodes, n_entries, n_roots, n_members;
    struct forest_node *nodes;
    struct forest_entry *entries;
    double *members;
    int64_t *roots;
    int64_t n_targets;
    const char *aggregate; /* "sum", "min", "max" */
};

/* What the trees say of the rows of x, whose type is the forest's: [rows, n_targets]. Checks
 * that nodes form trees and that numbers are in range. NULL after an error. */
struct value *forest_scores(struct onnx_node *node, const struct forest *forest, struct value *x,
                            const char *suffix);

#endif
