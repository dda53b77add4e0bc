/* snapshot.h - main as it was before a step, for steps that may change numbers but not the graph.
 */
#ifndef RELAY_IR_VALIDATE_SNAPSHOT_H
#define RELAY_IR_VALIDATE_SNAPSHOT_H

#include "relay_ir/ir.h"

struct was_input {
    const char *name;       /* of a computed value or parameter; NULL = absent or constant */
    struct tensor constant; /* a copy; data NULL = none */
};

struct was_node {
    enum op op;
    const char *attrs; /* as attrs_print */
    int n_inputs, n_outputs;
    struct was_input *inputs;
    const char **outputs;
};

struct snapshot {
    struct arena arena;
    struct bulk bulk;
    int n_nodes;
    struct was_node *nodes; /* in graph order; the last is ret */
    struct map by_output;   /* name -> struct was_node * */
};

void snapshot_take(struct snapshot *out, const struct function *fn);
void snapshot_free(struct snapshot *snapshot);

/* The node that computed a value; NULL = none. */
const struct was_node *snapshot_find(const struct snapshot *snapshot, const char *output);

/* True if the node has the operator, the attributes and the numbers of inputs and outputs of `was`.
 */
bool was_alike(const struct was_node *was, const struct node *node);

/* True if `value` is what input i read: the value of that name, equal bits, or nothing. */
bool was_read(const struct was_node *was, int i, const struct value *value);

#endif
