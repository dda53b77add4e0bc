/* outline.h - copies nodes of one function into another. */
#ifndef RELAY_IR_OUTLINE_H
#define RELAY_IR_OUTLINE_H

#include "relay_ir/ir.h"

/* Copies a node with other inputs and the names of its outputs, before `before` (NULL = at the end
 * of fn). NULL after an error. */
struct node *node_copy(struct function *fn, const struct node *node, struct value *const *inputs,
                       struct node *before);

/* Appends a copy of `node` to `fn`. Each input becomes the value of that name in fn if there is
 * one, a constant bound in fn, or a new parameter, whose outer value is stored in outer[its index].
 * False after an error. */
bool node_outline(struct function *fn, const struct node *node, struct value **outer);

#endif
