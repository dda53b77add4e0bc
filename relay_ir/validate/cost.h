/* cost.h - cost of evaluating a network with the reference evaluators. */
#ifndef RELAY_IR_VALIDATE_COST_H
#define RELAY_IR_VALIDATE_COST_H

#include "relay_ir/ir.h"

/* Cost of one evaluation. */
struct cost {
    double work;           /* multiply-accumulates and elements */
    double bytes;          /* of all values; a trace keeps them */
    double constant_bytes; /* of values that depend on constants only */
    double n_nodes;        /* each has a trace entry */
};

/* Cost of main with all functions that it calls. */
struct cost network_cost(struct module *module);

#endif
