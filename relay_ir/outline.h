/* outline.h - nodes of one function made again in another. */
#ifndef RELAY_IR_OUTLINE_H
#define RELAY_IR_OUTLINE_H

#include "relay_ir/ir.h"

/* A node like `node`, with these inputs and the same names of outputs, before `before` (NULL = at
 * the end of fn). NULL after an error. */
struct node *node_copy(struct function *fn, const struct node *node, struct value *const *inputs,
                       struct node *before);

/* A node like `node` at the end of `fn`, which is being made of nodes of another function: what it
 * reads is the copy that stands in fn already under the same name, a constant that is bound there,
 * or a new parameter of fn, whose outer value is noted in outer[its index]. False after an error.
 */
bool node_outline(struct function *fn, const struct node *node, struct value **outer);

#endif
