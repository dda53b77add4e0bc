/* macs.h - multiply-accumulate operations, for reports. */
#ifndef RELAY_IR_MACS_H
#define RELAY_IR_MACS_H

#include "relay_ir/ir.h"

/* MACs of convolutions, dense layers, matrix products and recurrent layers; 0 for other operators.
 * Saturates. */
int64_t node_macs(const struct node *node);

/* Work of the reference evaluator: the larger of its multiply-adds and of the elements that it
 * reads and writes. */
double node_work(const struct node *node);

#endif
