/* order.h - topological order of a function's nodes. */
#ifndef RELAY_IR_ORDER_H
#define RELAY_IR_ORDER_H

#include "relay_ir/ir.h"

/* Moves nodes in front of their readers, where a rewrite has left them behind; all others keep
 * their order. Numbers the function. The nodes must not read each other in a circle. */
void function_sort(struct function *fn);

#endif
