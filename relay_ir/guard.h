/* guard.h - what a function need not compute.
 *
 * `if` chooses one of two values by a condition. A node whose results are read through one side of
 * it only need not run when the condition takes the other side. Nothing of this is stored in the
 * graph: it follows from who reads what, so that rewrites cannot break it. A node may always run:
 * operators are total, and `if` copies. */
#ifndef RELAY_IR_GUARD_H
#define RELAY_IR_GUARD_H

#include "relay_ir/ir.h"

/* The node is needed only if the condition, one truth value, is `when`. */
struct guard {
    const struct value *condition; /* no view, no constant */
    bool when;
};

/* All of them must hold. A condition that is itself guarded comes behind its own guards. */
struct guards {
    int n;
    struct guard *at;
};

/* By node id, of a numbered function in topological order; calls of regions that are one `if` count
 * as such. NULL: it chooses nothing. */
const struct guards *guards_find(struct arena *arena, const struct function *fn);

#endif
