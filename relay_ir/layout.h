/* layout.h - channels first ("NCHW", also "") or channels last ("NHWC"), with one to three spatial
 * dimensions. */
#ifndef RELAY_IR_LAYOUT_H
#define RELAY_IR_LAYOUT_H

#include "relay_ir/ir.h"

bool layout_is_last(const char *layout);

/* Layout of the first input and of the output; "" if the operator has none. */
const char *node_layout(const struct node *node);
const char *node_out_layout(const struct node *node);

/* Channel axis of a shape of this rank. */
int layout_channel_axis(const char *layout, int rank);

/* First spatial axis; the others follow it. */
int layout_spatial_axis(const char *layout);

/* Permutations: order[i] is the dim of a channels-first tensor that becomes dim i in `layout`, and
 * the inverse. */
void layout_from_first(const char *layout, int rank, int *order);
void layout_to_first(const char *layout, int rank, int *order);

/* The type with its dims permuted. The quantisation axis is not changed. */
struct type type_channels_first(const struct type *type, const char *layout);
struct type type_in_layout(const struct type *first, const char *layout);

/* The tensor with channels first: itself, or a copy in bulk. */
struct tensor tensor_channels_first(struct bulk *bulk, const struct tensor *tensor,
                                    const char *layout);

/* A zeroed channels-first tensor to compute `out` in: `out` itself, or one in bulk.
 * tensor_store_first then writes it to `out` in its layout. */
struct tensor tensor_first_for(struct bulk *bulk, const struct tensor *out, const char *layout);
void tensor_store_first(const struct tensor *first, const char *layout, struct tensor *out);

/* Element strides of a tensor in a layout, for (batch, channel, flat spatial index). */
struct layout_steps {
    int64_t image, channel, place;
};
struct layout_steps layout_steps(const struct type *type, const char *layout);

#endif
