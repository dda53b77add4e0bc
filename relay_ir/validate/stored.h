/* stored.h - stored weights: a constant behind a dequantize or cast. */
#ifndef RELAY_IR_VALIDATE_STORED_H
#define RELAY_IR_VALIDATE_STORED_H

#include "relay_ir/ir.h"

/* True if the node turns stored numbers into real ones: qnn.dequantize, or a cast to f32. */
bool stored_is_decoder(const struct node *node);

/* Scale and zero point of element i of the decoder's constant. */
double stored_scale(const struct node *decoder, int64_t i);
double stored_zero(const struct node *decoder, int64_t i);

/* Channel of element i, as far as scales tell: 0 where one scale is for all. A row, with scales of
 * blocks. */
int64_t stored_channel(const struct node *decoder, int64_t i);

/* Element i as its format has it, without any scale. */
double stored_code(const struct tensor *quantized, int64_t i);

#endif
