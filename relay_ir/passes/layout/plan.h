/* plan.h - which value lies how: what convert_layout decides before it changes anything. */
#ifndef RELAY_IR_PASSES_LAYOUT_PLAN_H
#define RELAY_IR_PASSES_LAYOUT_PLAN_H

#include "relay_ir/passes/layout/rows.h"

/* The two orders in which a value may lie: [0] with the channels first, [1] with the channels last,
 * whatever the order of its dims in the graph: a network that was exported with transposes around
 * its convolutions has values of either kind. */
struct place {
    bool known;       /* a spatial operator has to do with it; else it lies as it is */
    struct type type; /* as in the graph */
    const char *name; /* what the model calls the value */
    struct order order[2];
};

/* How a node computes: its inputs and outputs in order[0] or [1]. */
struct role {
    enum layout_kind kind; /* FIXED where a place is not known, or does not fit */
    bool flattens;         /* a view to a matrix whose readers are dense layers only */
    bool spread;           /* its values have their places */
    bool copies[2]; /* a transpose or a view that makes another order than its output's [0] or
                       [1] of its input's, so that it costs a copy: a shuffle of channels */
    int in, out;    /* vertices of the cut; MIN_CUT_SOURCE is [1], MIN_CUT_SINK [0] */
    bool in_last, out_last;
};

struct plan {
    struct function *fn;
    struct arena *scratch;
    struct place *places; /* by value id */
    struct role *roles;   /* by node id */
    bool any;             /* there is something to choose */
};

/* places.c: spreads the places from the spatial operators over all that takes its dims in any
 * order, and over transposes and views. */
void plan_places(struct plan *plan);

/* choose.c: decides in_last and out_last of all roles. */
void plan_choose(struct plan *plan);

/* The image inputs of a role that is not FIXED; weights and vectors are not. A constant is an image
 * that has no place. */
bool plan_is_image(const struct plan *plan, const struct node *node, int input);

/* Whether this reshape to a matrix is read by dense layers with constant weights only, whose
 * weights can be given in another order. */
bool plan_is_flattening(const struct node *view);

/* The dense layers behind such a view, or behind an element-wise node there: calls `visit` for
 * each. */
bool plan_dense_readers(const struct value *flat, bool (*visit)(void *user, struct node *dense),
                        void *user);

#endif
