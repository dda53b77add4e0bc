/* layout.h - where the channels of a tensor are: behind the batch ("NCHW", also "") or last
 * ("NHWC"), with one to three spatial dimensions. */
#ifndef RELAY_IR_LAYOUT_H
#define RELAY_IR_LAYOUT_H

#include "relay_ir/ir.h"

bool layout_is_last(const char *layout);

/* How the first input of an operator lies, and its output: "" where the operator has no layout. */
const char *node_layout(const struct node *node);
const char *node_out_layout(const struct node *node);

/* The dim of the channels in a shape of this rank. */
int layout_channel_axis(const char *layout, int rank);

/* The dim of the first spatial dimension: the others follow it. */
int layout_spatial_axis(const char *layout);

/* order[i] is the dim of a channels-first tensor that is dim i of one with this layout, and the
 * other way round. */
void layout_from_first(const char *layout, int rank, int *order);
void layout_to_first(const char *layout, int rank, int *order);

/* The type with its dims in the other order. What the quantisation says of an axis stays as it is.
 */
struct type type_channels_first(const struct type *type, const char *layout);
struct type type_in_layout(const struct type *first, const char *layout);

/* The tensor with channels first: itself, or a copy in bulk. */
struct tensor tensor_channels_first(struct bulk *bulk, const struct tensor *tensor,
                                    const char *layout);

/* A zeroed tensor with the channels first, to be computed in the place of `out`: `out` itself, or
 * one in bulk. Then it is stored in the layout of `out`. */
struct tensor tensor_first_for(struct bulk *bulk, const struct tensor *out, const char *layout);
void tensor_store_first(const struct tensor *first, const char *layout, struct tensor *out);

/* Element [c . step] of a tensor in a layout, as (batch, channel, spatial index): steps in
 * elements. */
struct layout_steps {
    int64_t image, channel, place;
};
struct layout_steps layout_steps(const struct type *type, const char *layout);

#endif
