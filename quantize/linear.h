/* linear.h - how the weights of a product (convolutions, dense, matmul) connect channels, and what
 * the corrections of weights and biases do to a graph. */
#ifndef QUANTIZE_LINEAR_H
#define QUANTIZE_LINEAR_H

#include "relay_ir/ir.h"

/* The weight is [lead, first, second, taps], row-major: out_c and in_c / groups, or in_c and
 * out_c / groups. A block is what lies between two elements of `second`: taps numbers. */
struct linear {
    int64_t out_c, in_c, groups;
    int64_t lead; /* matrices of a batch, of matmul; else 1 */
    int64_t first, second, taps;
    bool in_first;
    int in_axis, out_axis; /* of the data, of the result: where channels are counted */
};

/* False when the node is no product, has no channels (its weight is a vector), or is empty. What
 * its second input is, constant or computed, does not matter. */
bool linear_of(const struct node *node, struct linear *out);

int64_t linear_blocks(const struct linear *linear);
void linear_channels(const struct linear *linear, int64_t block, int64_t *in, int64_t *out);

/* The bias_add that alone reads the product, with a constant along the channels; else NULL. */
struct node *product_bias(const struct node *product, const struct linear *linear);

/* Where channels that lie on `axis` of a value lie after it was given the shape `to`, -1 = not on
 * one axis. *repeat: channel i has become [i * repeat, (i + 1) * repeat). */
int axis_after_view(const struct type *from, int axis, const struct type *to, int64_t *repeat);

/* (n,1,1..): a vector along `axis` of `like` that broadcasts over it. */
struct type along_axis(const struct type *like, int axis);

/* The node reads a new constant instead of its constant input, under the same name if nobody else
 * reads the old one. `data` is of constant_alloc. */
void constant_exchange(struct node *node, int input, const struct type *type, const void *data);

/* Puts an operator between a value and all who read it, results included: `op` of the value and of
 * `operand` (NULL = of the value alone). The new value takes the name over, the old one is called
 * NAME.SUFFIX. NULL after an error. */
struct value *value_insert(struct value *value, const char *suffix, enum op op,
                           const union attrs *attrs, struct value *operand);

#endif
