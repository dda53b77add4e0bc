/* order.h - how a value lies: in which order its dims follow one another. Dim i of what lies in
 * memory is dim at[i] of the value. */
#ifndef RELAY_IR_PASSES_LAYOUT_ORDER_H
#define RELAY_IR_PASSES_LAYOUT_ORDER_H

#include "relay_ir/ir.h"

struct order {
    int at[MAX_RANK]; /* as many as the value has dims */
};

struct order order_as_is(int rank);
bool order_equal(const struct order *a, const struct order *b, int rank);

/* Of a value that an operator reads or writes with this layout attribute: in the order that has the
 * channels last, or first. */
struct order order_of_layout(const char *layout, int rank, bool last);

/* The shape of a value that lies so. */
struct type order_type(const struct type *type, const struct order *order);

/* The dims of a value lie in the order `from`: the axes of the transpose after which they lie in
 * the order `to`. */
struct ints order_axes(const struct order *from, const struct order *to, int rank);

/* Whether the elements of a value of this shape follow one another alike in both orders: then a
 * change of shape is all. */
bool order_same_memory(const struct type *type, const struct order *a, const struct order *b);

/* Through transpose: of the output, from that of the input, and the other way round. */
struct order order_through_transpose(const struct ints *axes, const struct order *in);
struct order order_before_transpose(const struct ints *axes, const struct order *out);

/* Through a reshape from x to y: an order of y in which the elements follow one another as those of
 * x do in the order `in`. False when there is none: dims that become one are not neighbours then.
 */
bool order_through_reshape(const struct type *x, const struct order *in, const struct type *y,
                           struct order *out);

/* Whether the elements of x in the order a are those of its reshape y in the order b. */
bool order_same_elements(const struct type *x, const struct order *a, const struct type *y,
                         const struct order *b);

/* Through a reduction that drops `axes` (sorted): of the dims that are left. */
struct order order_without(const struct order *in, int rank, const struct ints *axes);

#endif
