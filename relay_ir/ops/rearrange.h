/* rearrange.h - nn.depth_to_space and nn.space_to_depth as one copy along regular steps. */
#ifndef RELAY_IR_OPS_REARRANGE_H
#define RELAY_IR_OPS_REARRANGE_H

#include "relay_ir/ir.h"

/* Over (batch, channels, and for each spatial dim its blocks and the places in one): extents, and
 * element steps in the deep and in the flat tensor, in their layout. In the deep one the places of
 * a block are channels: DCR (places, channel), CRD (channel, places). */
struct depth_space_steps {
    int n;
    int64_t dim[MAX_RANK], deep[MAX_RANK], flat[MAX_RANK];
};

/* Of a node whose types are known, which reads and writes pixels that lie so many elements apart;
 * 0: side by side, as they must with the channels first. */
struct depth_space_steps depth_space_steps(const struct node *node, int64_t x_pitch,
                                           int64_t y_pitch);

#endif
