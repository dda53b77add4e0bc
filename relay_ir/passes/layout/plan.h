/* plan.h - the layout of every value, decided by convert_layout before it changes the graph. */
#ifndef RELAY_IR_PASSES_LAYOUT_PLAN_H
#define RELAY_IR_PASSES_LAYOUT_PLAN_H

#include "relay_ir/passes/layout/rows.h"

/* The two orders that a value may have: [0] channels first, [1] channels last, whatever the order
 * of dims in the graph (models exported with transposes around convolutions have both kinds). */
struct channel_axis {
    bool known;       /* connected to a spatial operator; else the order is fixed */
    struct type type; /* as in the graph */
    const char *name; /* name in the model */
    struct order order[2];
};

/* Layout of a node: inputs and outputs in order[0] or [1]. */
struct role {
    enum layout_kind kind; /* FIXED if a channel axis is unknown or does not fit */
    bool flattens;         /* a view to a matrix whose readers are dense layers only */
    bool spread;           /* its values have their channel axes */
    bool copies[2]; /* a transpose or view that maps its input's order [0] or [1] to neither of its
                       output's, and so costs a copy (channel shuffle) */
    int in, out;    /* vertices of the cut; MIN_CUT_SOURCE is [1], MIN_CUT_SINK [0] */
    bool in_last, out_last;
};

struct plan {
    struct function *fn;
    struct arena *scratch;
    struct channel_axis *axes; /* by value id */
    struct role *roles;        /* by node id */
    bool any;                  /* there is a choice */
};

/* Propagates channel axes from the spatial operators through operators that accept any order,
 * transposes and views (channel_axis.c). */
void plan_channel_axes(struct plan *plan);

/* Decides in_last and out_last of all roles, by a minimum cut (choose.c). */
void plan_choose(struct plan *plan);

/* True if the input is an image, not a weight or vector, of a node that is not FIXED. Constant
 * images have no channel axis. */
bool plan_is_image(const struct plan *plan, const struct node *node, int input);

/* True if all readers of this reshape to a matrix are dense layers with constant weights, which can
 * be permuted. */
bool plan_is_flattening(const struct node *view);

/* Calls `visit` for each dense layer behind such a view, or behind an element-wise node after
 * it. */
bool plan_dense_readers(const struct value *flat, bool (*visit)(void *user, struct node *dense),
                        void *user);

#endif
