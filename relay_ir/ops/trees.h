/* trees.h - the tables of ml.tree_ensemble, and a walk through one tree (trees.c). */
#ifndef RELAY_IR_OPS_TREES_H
#define RELAY_IR_OPS_TREES_H

#include "relay_ir/ir.h"

/* The inputs. */
enum {
    TREES_X,
    TREES_FEATURE,
    TREES_THRESHOLD,
    TREES_CHILDREN,
    TREES_ROOT,
    TREES_TARGET,
    TREES_LEAF
};

struct trees {
    int64_t rows, features, n_splits, n_trees, n_leaves, width, n_targets;
    const int32_t *feature, *children, *root, *target; /* borrowed from the constants */
};

/* Of a node whose types are inferred. */
struct trees trees_of(const struct node *node);

/* The leaf that a tree has for a row of x. */
int64_t trees_walk(const struct trees *trees, const struct tensor *threshold,
                   const struct tensor *x, int64_t row, int64_t tree);

/* What the aggregate begins with, and what comes of that and a leaf's number. */
double trees_begin(const struct node *node);
double trees_step(const struct node *node, double before, double leaf);

#endif
