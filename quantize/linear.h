/* linear.h - how the weights of a product (convolution, dense, matmul) connect channels, and graph
 * edits for corrections of weights and biases. */
#ifndef QUANTIZE_LINEAR_H
#define QUANTIZE_LINEAR_H

#include "relay_ir/ir.h"

/* The weight is [lead, first, second, taps], row-major: out_c and in_c / groups, or in_c and out_c
 * / groups. A block is the `taps` elements of one element of `second`. */
struct linear {
    int64_t out_c, in_c, groups;
    int64_t lead; /* matmul: matrices in the batch; else 1 */
    int64_t first, second, taps;
    bool in_first;
    int in_axis, out_axis; /* channel axis of the data, of the result */
};

/* False if the node is not a product, has no channels (weight is a vector) or is empty. The weight
 * may be computed. */
bool linear_of(const struct node *node, struct linear *out);

int64_t linear_blocks(const struct linear *linear);
void linear_channels(const struct linear *linear, int64_t block, int64_t *in, int64_t *out);

/* The bias_add of a per-channel constant that is the product's only reader; else NULL. */
struct node *product_bias(const struct node *product, const struct linear *linear);

/* Axis of the channels after a reshape to `to`; -1 = not a single axis. *repeat: channel i becomes
 * [i * repeat, (i + 1) * repeat). */
int axis_after_view(const struct type *from, int axis, const struct type *to, int64_t *repeat);

/* (n,1,1...): type of a vector along `axis` that broadcasts over `like`. */
struct type along_axis(const struct type *like, int axis);

/* Replaces a constant input by a new constant, under its name if nobody else reads the old one.
 * `data` is from constant_alloc. */
void constant_exchange(struct node *node, int input, const struct type *type, const void *data);

/* Inserts `op` (of the value, and `operand` unless NULL) between a value and all its readers,
 * results included. The new value takes over the name; the old one becomes NAME.SUFFIX. NULL after
 * an error. */
struct value *value_insert(struct value *value, const char *suffix, enum op op,
                           const union attrs *attrs, struct value *operand);

#endif
