/* products.h - what convolutions (transposed ones too), dense and matmul have in common: data times
 * weights, and a type for the sum. */
#ifndef RELAY_IR_PRODUCTS_H
#define RELAY_IR_PRODUCTS_H

#include "relay_ir/ir.h"

bool is_product(enum op op);

/* nn.rnn, nn.gru, nn.lstm: products inside, with weights in inputs 1 and 2, row by row. */
bool is_recurrent(enum op op);

/* The attribute out_dtype of a product. */
enum dtype *product_out_dtype(struct node *node);

/* The axis of a product's second input that counts the output channels; -1 when there is none (a
 * vector, a transposed convolution whose groups have several channels). *scales_rank: of how many
 * dims a vector along the channels must be, (n,1,1) say, to broadcast over the result. */
int product_channel_axis(const struct node *node, int *scales_rank);

#endif
