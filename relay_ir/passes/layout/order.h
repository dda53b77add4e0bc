/* order.h - dimension orders: dim i of the value in memory is dim at[i] of the value in the
 * graph. */
#ifndef RELAY_IR_PASSES_LAYOUT_ORDER_H
#define RELAY_IR_PASSES_LAYOUT_ORDER_H

#include "relay_ir/ir.h"

struct order {
    int at[MAX_RANK]; /* one per dim of the value */
};

struct order order_as_is(int rank);
bool order_equal(const struct order *a, const struct order *b, int rank);

/* Order that puts the channels last, or first, of a value with this layout attribute. */
struct order order_of_layout(const char *layout, int rank, bool last);

/* Shape of a value in this order. */
struct type order_type(const struct type *type, const struct order *order);

/* Axes of the transpose from one order to another. */
struct ints order_axes(const struct order *from, const struct order *to, int rank);

/* True if both orders give one sequence of elements for this shape, so that a reshape suffices. */
bool order_same_memory(const struct type *type, const struct order *a, const struct order *b);

/* Order of a transpose's output from that of its input, and the inverse. */
struct order order_through_transpose(const struct ints *axes, const struct order *in);
struct order order_before_transpose(const struct ints *axes, const struct order *out);

/* Order of y = reshape(x) that keeps the sequence of x's elements in the order `in`. False if there
 * is none: merged dims are not adjacent. */
bool order_through_reshape(const struct type *x, const struct order *in, const struct type *y,
                           struct order *out);

/* True if x in order a and its reshape y in order b have one sequence of elements. */
bool order_same_elements(const struct type *x, const struct order *a, const struct type *y,
                         const struct order *b);

/* Order of the remaining dims after a reduction over `axes` (sorted). */
struct order order_without(const struct order *in, int rank, const struct ints *axes);

#endif
