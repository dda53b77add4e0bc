/* region.h - the form of the host's regions, which fuse_ops makes (contract in
 * relay_ir/passes/pipeline.h), the engine runs and codegen_c prints: decoders, anchor, element-wise
 * nodes. */
#ifndef RELAY_IR_REGION_H
#define RELAY_IR_REGION_H

#include "relay_ir/ir.h"

/* True if the node converts 8- or 16-bit values to f32: a qnn.dequantize with one constant scale
 * and zero point, or a cast from narrow floats or integers. With one reader, converting again costs
 * less than keeping the f32 value. */
bool is_decoder(const struct node *node);

/* True if a kernel of this operator can convert this input as it reads it. One row in region.c per
 * operator. */
bool op_decodes(enum op op, int input);

/* True if kernels of the operator can leave out an unread result, which then is no result of the
 * region. Other kernels use it as memory. */
bool op_leaves_results(enum op op);

/* The node that is not element-wise; NULL = a chain of element-wise nodes. */
struct node *region_anchor(const struct function *region);

/* The decoder in front of this input of the anchor (its prologue); NULL = none. */
struct node *anchor_decoder(const struct node *anchor, int input);

/* True if the anchor has decoders only in front of inputs that its kernels convert (op_decodes). */
bool anchor_decodes_all(const struct node *anchor);

/* True if the node is a prologue of the anchor. */
bool is_prologue(const struct node *node, const struct node *anchor);

#endif
