/* region.h - the form of the regions of "c", which fuse_ops makes (relay_ir/passes/pipeline.h has
 * the contract), engines run and code generators write: decoders, the anchor, element-wise nodes.
 */
#ifndef RELAY_IR_REGION_H
#define RELAY_IR_REGION_H

#include "relay_ir/ir.h"

/* Whether the node makes f32 of numbers that are stored in 8 or 16 bits: a qnn.dequantize with one
 * scale and one zero point, both constant, or a cast of small floats or such integers. Where it is
 * read by one node only, it costs less to decode again than to keep the f32. */
bool is_decoder(const struct node *node);

/* Whether a region of this operator may decode its input itself: its kernels read that input
 * element by element. A row of region.c for each such operator. */
bool op_decodes(enum op op, int input);

/* Whether the kernels of an operator need not write a result that nobody reads: then it is none of
 * the region's. Others use such results as memory. */
bool op_leaves_results(enum op op);

/* The node of a region that is not element-wise; NULL = a chain. */
struct node *region_anchor(const struct function *region);

/* The decoder that stands before this input of the region's anchor (its prologue); NULL = none. */
struct node *anchor_decoder(const struct node *anchor, int input);

/* Whether the node is such a decoder. */
bool is_prologue(const struct node *node, const struct node *anchor);

#endif
