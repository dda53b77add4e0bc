/* rows.h - what convert_layout knows of operators: how each takes its dims in another order. */
#ifndef RELAY_IR_PASSES_LAYOUT_ROWS_H
#define RELAY_IR_PASSES_LAYOUT_ROWS_H

#include "relay_ir/passes/layout/order.h"

/* Of this node, in its circumstances: an operator without a kernel for channels last is FIXED. */
enum layout_kind layout_kind(const struct node *node);

/* How many of its first inputs are images; the others are weights, scales, vectors. */
int layout_n_images(const struct node *node);

/* Whether a convolution may read planes (or write them) where its other side has the channels last.
 */
bool layout_mixes(const struct node *node);

/* Whether it may read and write planes, nearly as fast. */
bool layout_takes_planes(const struct node *node);

/* Whether a constant image, or a vector behind it, can be given in another order. */
bool layout_turns_constant(const struct value *value);

/* The attributes for inputs and outputs that lie in these orders: axes, lists with an entry for
 * each dim; layout words become "channels last" or not. */
void layout_turn_attrs(const struct node *node, const struct order *in, bool in_last, bool out_last,
                       union attrs *attrs);

#endif
