/* rows.h - layout rules per operator: how each handles another order of dims. */
#ifndef RELAY_IR_PASSES_LAYOUT_ROWS_H
#define RELAY_IR_PASSES_LAYOUT_ROWS_H

#include "relay_ir/passes/layout/order.h"

/* Rule of this node; an operator without a channels-last kernel is FIXED. */
enum layout_kind layout_kind(const struct node *node);

/* Number of leading inputs that are images; the others are weights, scales, vectors. */
int layout_n_images(const struct node *node);

/* True if a convolution may read or write channels first while its other side is channels last. */
bool layout_mixes(const struct node *node);

/* True if it may also read and write channels first, nearly as fast. */
bool layout_takes_channels_first(const struct node *node);

/* True if a constant (image, or vector after one) can be permuted. */
bool layout_permutes_constant(const struct value *value);

/* Attributes for permuted inputs and outputs: axes and per-dim lists are permuted, layout words
 * set. */
void layout_permute_attrs(const struct node *node, const struct order *in, bool in_last,
                          bool out_last, union attrs *attrs);

#endif
