/* products.h - properties shared by convolutions (transposed too), dense and matmul: data times
 * weights, with a type for the sum. */
#ifndef RELAY_IR_PRODUCTS_H
#define RELAY_IR_PRODUCTS_H

#include "relay_ir/ir.h"

bool is_product(enum op op);

/* nn.rnn, nn.gru, nn.lstm: weights are inputs 1 and 2, row-major. */
bool is_recurrent(enum op op);

/* Pointer to the attribute out_dtype. */
enum dtype *product_out_dtype(struct node *node);

/* Axis of input 1 that counts output channels; -1 if none (a vector, or a transposed convolution
 * whose groups have several channels). *scales_rank: rank that a per-channel vector needs, as
 * (n,1,1), to broadcast over the result. */
int product_channel_axis(const struct node *node, int *scales_rank);

#endif
