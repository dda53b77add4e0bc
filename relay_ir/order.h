/* order.h - topological order of a function's nodes. */
#ifndef RELAY_IR_ORDER_H
#define RELAY_IR_ORDER_H

#include "relay_ir/guard.h"
#include "relay_ir/ir.h"

/* Restores topological order after a rewrite: moves nodes before their readers, and keeps the order
 * of all others. Numbers the function. The graph must be acyclic. */
void function_sort(struct function *fn);

/* Likewise, with conditions before what they guard; guards as guards_find gave them. */
void function_sort_guarded(struct function *fn, const struct guards *guards);

#endif
