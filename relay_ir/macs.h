/* macs.h - multiply-accumulate operations, for reports. */
#ifndef RELAY_IR_MACS_H
#define RELAY_IR_MACS_H

#include "relay_ir/ir.h"

/* Of convolutions, dense layers, matrix products and recurrent layers; 0 of everything else.
 * Saturates. */
int64_t node_macs(const struct node *node);

/* What the reference evaluator does: its multiply-adds, or the elements that it reads and writes,
 * whichever are more. */
double node_work(const struct node *node);

#endif
