/* cost.h - what it costs to evaluate a network. */
#ifndef RELAY_IR_VALIDATE_COST_H
#define RELAY_IR_VALIDATE_COST_H

#include "relay_ir/ir.h"

/* What one evaluation costs. */
struct cost {
    double work;           /* multiply-accumulates and elements */
    double bytes;          /* of all values, which a trace keeps */
    double constant_bytes; /* of those that depend on constants only */
    double n_nodes;        /* each has its trace, however small its values are */
};

/* Of main with all that it calls. */
struct cost network_cost(struct module *module);

#endif
