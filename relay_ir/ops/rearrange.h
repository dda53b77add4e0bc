/* rearrange.h - nn.depth_to_space and nn.space_to_depth as one strided copy. */
#ifndef RELAY_IR_OPS_REARRANGE_H
#define RELAY_IR_OPS_REARRANGE_H

#include "relay_ir/ir.h"

/* Dimensions are (batch, channels, and per spatial dim its blocks and the positions in a block):
 * extents, and element strides in the deep and the flat tensor, in their layout. The deep tensor's
 * channels are DCR (positions, channel) or CRD (channel, positions). */
struct depth_space_steps {
    int n;
    int64_t dim[MAX_RANK], deep[MAX_RANK], flat[MAX_RANK];
};

/* For a node with inferred types and these pixel strides in elements; 0 = dense, as required with
 * the channels first. */
struct depth_space_steps depth_space_steps(const struct node *node, int64_t x_pixel_stride,
                                           int64_t y_pixel_stride);

#endif
