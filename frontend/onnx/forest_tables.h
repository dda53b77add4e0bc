/* forest_tables.h - splits and leaves of ml.tree_ensemble, made from the leaves up (forest.c). */
#ifndef FRONTEND_ONNX_FOREST_TABLES_H
#define FRONTEND_ONNX_FOREST_TABLES_H

#include "frontend/onnx/forest.h"

struct split {
    int32_t feature; /* ~feature: NaN goes to `first` */
    int32_t first, second;
    double threshold;
};

struct tables {
    const struct forest *forest;
    struct arena *arena;
    int64_t width;
    struct split *splits;
    double *leaves; /* [n_leaves, width] */
    int64_t n_splits, n_leaves, room_for_leaves;
    int32_t *slots; /* open addressing: 1 + split, or -1 - leaf; 0 = empty */
    uint64_t mask;
    int32_t *place; /* [n_nodes] of the tree at hand */
};

/* The place of a leaf, whose first number is that of `target`; of a node whose children have places.
 * There is room for all splits; places are ~leaf, or a split. */
int32_t tables_add_leaf(struct tables *tables, const struct forest_node *leaf, int64_t target);
int32_t tables_add_node(struct tables *tables, const struct forest_node *at);

#endif
